package ingress

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// actions draws actions; package command reads and writes those of every kind.
func actions() *rapid.Generator[operate.Action] {
	return rapid.Custom(func(t *rapid.T) operate.Action {
		a := operate.Action{Wait: rapid.Bool().Draw(t, "wait")}
		text := rapid.String().Draw(t, "text")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			a.Program = program.Switch{Author: text, On: true}
			return a
		case 1:
			a.Command = fold.AddComment{Author: "ann", Text: text, Entry: 7}
		default:
			a.Command = fold.Result{State: 2, Output: text}
		}
		a.Object = object.ID(rapid.StringN(1, 20, 80).Draw(t, "object"))
		return a
	})
}

func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Command{ID: NewID(), From: "ui01", Actions: rapid.SliceOfN(actions(), 1, 6).Draw(t, "actions")}
		if rapid.Bool().Draw(t, "the same for several") {
			for i := 1; i < len(want.Actions) && want.Actions[0].Command != nil; i++ {
				want.Actions[i] = want.Actions[0]
				want.Actions[i].Object = object.ID(fmt.Sprint("h", i))
			}
		}
		data, err := Encode(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read back %+v (%v), want %+v\n%s", got, err, want, data)
		}
	})
}

func TestTheSameCommandForManyObjectsIsSmall(t *testing.T) {
	c := Command{ID: NewID()}
	for i := range 10_000 {
		c.Actions = append(c.Actions, operate.Action{
			Object: object.ServiceID(fmt.Sprintf("web%05d.example.com", i), "disk"), Command: fold.Acknowledge{Author: "ann", Text: "maintenance"},
		})
	}
	data, err := Encode(&c)
	if err != nil || len(data) > 400_000 {
		t.Errorf("10,000 acknowledgements take %d bytes (%v), want less than 400,000: they must fit into a message of 1 MiB", len(data), err)
	}
}

func TestWhatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	const frame = `{"v":1,"id":"abcdefgh","do":[%s]}`
	tests := []struct{ name, give, want string }{
		{"no JSON", `acknowledge web01`, "read the command"},
		{"a later version whose form is another", `{"v":2,"id":"abcdefgh","do":{"new":1}}`, "has version 2, this engine reads 1"},
		{"a frame with more than is known", `{"v":1,"id":"abcdefgh","do":[],"urgent":true}`, `unknown field "urgent"`},
		{"something behind it", `{"v":1,"id":"abcdefgh","do":[]} {}`, "read the command"},
		{"an id of another form", `{"v":1,"id":"a.b","do":[]}`, "has another form"},
		{"nothing to do", fmt.Sprintf(frame, ``), "nothing is asked for"},
		{"a kind of command that nobody knows", fmt.Sprintf(frame, `{"k":"reboot","with":{},"o":["a"]}`), `no command is called "reboot"`},
		{"a command that is an engine's own", fmt.Sprintf(frame, `{"k":"tick","with":{},"o":["a"]}`), `no command is called "tick"`},
		{"a field that this build would have to leave out", fmt.Sprintf(frame, `{"k":"notify","with":{"Loud":true},"o":["a"]}`), `unknown field "Loud"`},
		{"a field of another type", fmt.Sprintf(frame, `{"k":"notify","with":{"Text":1},"o":["a"]}`), "read notify"},
		{"a command without its fields", fmt.Sprintf(frame, `{"k":"notify","o":["a"]}`), "read notify"},
		{"an object without a name", fmt.Sprintf(frame, `{"k":"notify","with":{},"o":["a",""]}`), "an object without a name"},
		{"a command for objects without any", fmt.Sprintf(frame, `{"k":"notify","with":{}}`), "notify names no object"},
		{"a command for the program with objects", fmt.Sprintf(frame, `{"k":"program-switch","with":{},"o":["a"]}`), "about the program and names objects"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.give))
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrRefused with %q", err, tt.want)
			}
		})
	}
	t.Logf("%d messages", len(tests))
}

func TestWhatCannotBeMeantIsNotWritten(t *testing.T) {
	ack := fold.Acknowledge{Author: "ann"}
	for name, actions := range map[string][]operate.Action{
		"nothing":                           nil,
		"an action without a command":       {{Object: "a"}},
		"an action with two commands":       {{Object: "a", Command: ack, Program: program.Switch{}}},
		"a command for no object":           {{Command: ack}},
		"the program and an object":         {{Object: "a", Program: program.Switch{}}},
		"a command that is an engine's own": {{Object: "a", Command: fold.Tick{}}},
		"too many":                          make([]operate.Action, MostActions+1),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Encode(&Command{ID: NewID(), Actions: actions}); !errors.Is(err, ErrRefused) {
				t.Errorf("error %v, want ErrRefused", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"id":"abcdefgh","from":"ui01","do":[{"k":"acknowledge","with":{"Kind":2,"Author":"ann"},"o":["web01","web01!http"],"wait":true}]}`,
		`{"v":1,"id":"abcdefgh","do":[{"k":"program-put-rule","with":{"Rule":{"ID":"r","Ranges":["sunday 02:00-04:00"]}}}]}`,
		`{"v":2,"id":"abcdefgh"}`, `{}`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			if !errors.Is(err, ErrRefused) {
				t.Fatalf("%v does not say that the command is refused", err)
			}
			return
		}
		again, err := Encode(&c)
		if err != nil {
			t.Fatalf("%v of what was read from %q", err, data)
		}
		back, err := Decode(again)
		if err != nil || !reflect.DeepEqual(back, c) {
			t.Fatalf("read back %+v (%v), want %+v", back, err, c)
		}
	})
}

func TestLongReasonsAreCutInAnswers(t *testing.T) {
	long := strings.Repeat("x", 3*mostWhy)
	a := answer{State: ended, Why: long, Failures: []Failure{{Why: long}}}
	data := a.encode()
	if !json.Valid(data) || len(data) > 2*mostWhy+200 {
		t.Errorf("an answer with long reasons has %d bytes", len(data))
	}
}
