package roles

import (
	"errors"
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/service"
)

func TestAMemberThatWasRemovedEndsWithThatAlone(t *testing.T) {
	t.Parallel()
	engine := &service.Error{Service: "engine", Err: errors.New("save the snapshot: connection closed")}
	store := &service.Error{Service: "bus", Err: fmt.Errorf("%w: by an operator", bus.ErrRemoved)}
	for _, tt := range []struct {
		name string
		give error
		want string
	}{
		{"a clean end", nil, "<nil>"},
		{"one of several reasons is the removal", errors.Join(engine, store), "service bus: this member was removed from the cluster: by an operator"},
		{"the removal alone", store, "service bus: this member was removed from the cluster: by an operator"},
		{"other reasons", errors.Join(engine, engine), "service engine: save the snapshot: connection closed\nservice engine: save the snapshot: connection closed"},
	} {
		if got := fmt.Sprint(causeOfEnd(tt.give)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
