package roles

import (
	"errors"
	"fmt"
	"testing"

	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

func TestWhyACommandWasNotTakenIsToldInTheWebsTerms(t *testing.T) {
	other := errors.New("disk on fire")
	for _, c := range []struct {
		err  error
		want error
	}{
		{engine.ErrNotFound, web.ErrInvalid},
		{fmt.Errorf("h!s: %w", engine.ErrRefused), web.ErrInvalid},
		{engine.ErrBusy, web.ErrUnavailable},
		{engine.ErrStopping, web.ErrUnavailable},
		{engine.ErrUnconfirmed, web.ErrUnconfirmed},
		{fmt.Errorf("%w: %w", engine.ErrNotBegun, other), web.ErrUnavailable},
		{other, other},
	} {
		if got := forWeb(c.err); !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v is told as %v, want one that wraps %v too", c.err, got, c.want)
		}
	}
	if forWeb(nil) != nil {
		t.Error("nothing wrong is told as an error")
	}
}
