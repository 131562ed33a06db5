package fold_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

func TestAStateSurvivesItsSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := fold.State{
			Measure: rapid.Make[event.Measure]().Draw(t, "measure"),
			Last:    rapid.Uint64().Draw(t, "last"), Sub: rapid.Uint64().Draw(t, "sub"), Fence: rapid.Uint64().Draw(t, "fence"),
		}
		want.Status.State = object.State(rapid.Byte().Draw(t, "state"))
		want.Status.Attempt = rapid.Int32().Draw(t, "attempt")
		want.Status.Problem = object.Time(rapid.Int64().Draw(t, "problem"))
		data := fold.AppendState([]byte("x"), &want)[1:]
		if !json.Valid(data) {
			t.Fatalf("not JSON: %s", data)
		}
		var got fold.State
		if err := fold.DecodeState(data, &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("read back %+v, want %+v", got, want)
		}
	})
}

func TestDecodeStateSaysWhereATextIsWrong(t *testing.T) {
	s := fold.State{Last: 7}
	err := fold.DecodeState([]byte(`{"new":1,"l":-3}`), &s)
	var syntax *wire.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 13 || !strings.HasPrefix(err.Error(), "decode state: at byte 13") {
		t.Errorf("error %v", err)
	}
	if err := fold.DecodeState([]byte(`{"new":[1]}`), &s); err != nil || s != (fold.State{}) {
		t.Errorf("an unknown key: %v, %+v", err, s)
	}
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"s":{"s":2,"x":{"c":[{}],"d":[{}]}},"m":{"ls":[1]},"l":1,"u":2,"f":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again fold.State
		if fold.DecodeState(data, &s) != nil {
			return
		}
		text := fold.AppendState(nil, &s)
		if err := fold.DecodeState(text, &again); err != nil || digest(again) != string(text) {
			t.Fatalf("%s: %v, then %s", text, err, digest(again))
		}
	})
}
