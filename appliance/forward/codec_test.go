package forward

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// commands draws commands of a few kinds; package command reads and writes all.
func commands() *rapid.Generator[Command] {
	return rapid.Custom(func(t *rapid.T) Command {
		c := Command{ID: rapid.StringMatching(`[A-Z0-9.-]{1,20}`).Draw(t, "id")}
		c.Action.Object = object.ID(rapid.StringN(1, 20, 80).Draw(t, "object"))
		text := rapid.String().Draw(t, "text")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			c.Action.Command = fold.Acknowledge{Author: "ann", Text: "on it"}
		case 1:
			c.Action.Command = fold.AddComment{Author: "ann", Text: text, Entry: 7}
		default:
			c.Action.Command = fold.Result{State: 2, Output: text}
		}
		return c
	})
}

func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(commands(), 1, 8).Draw(t, "commands")
		var pieces []piece
		most := room
		for i := range want {
			p, err := newPiece(&want[i])
			if err != nil {
				t.Fatal(err)
			}
			pieces = append(pieces, p)
			most += p.size
		}
		data := encode("e1", pieces)
		from, got, err := decode(data, len(want))
		if err != nil || from != "e1" || !reflect.DeepEqual(got, want) {
			t.Fatalf("read back %+v (%v) from %s, want %+v\n%s", got, err, from, want, data)
		}
		if len(data) > most {
			t.Fatalf("%d bytes, and %d were foreseen\n%s", len(data), most, data)
		}
		if _, _, err := decode(data, len(want)-1); err == nil {
			t.Fatal("more commands than are possible are read")
		}
	})
}

func TestTheSameCommandForManyObjectsIsSmall(t *testing.T) {
	var pieces []piece
	for _, c := range many(mostCommands) {
		p, err := newPiece(&c)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	if n := len(encode("e1", pieces)); n > 50*mostCommands {
		t.Errorf("%d acknowledgements take %d bytes, want less than 50 each", mostCommands, n)
	}
}

func TestWhatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	const frame = `{"v":1,"hop":1,"from":"e1","do":[%s]}`
	tests := []struct{ name, give, want string }{
		{"no JSON", `acknowledge web01`, "read forwarded commands"},
		{"a later version whose form is another", `{"v":2,"hop":1,"from":"e1","do":{"new":1}}`, "have version 2, this engine reads 1: run the same version"},
		{"without a hop", `{"v":1,"do":[]}`, "have made 0 hops, only 1 is possible"},
		{"a frame with more than is known", `{"v":1,"hop":1,"do":[],"urgent":true}`, `unknown field "urgent"`},
		{"something behind it", fmt.Sprintf(frame, ``) + `{}`, "read forwarded commands"},
		{"nothing to do", fmt.Sprintf(frame, ``), "no command was forwarded"},
		{"a kind of command that nobody knows", fmt.Sprintf(frame, `{"k":"reboot","with":{},"o":["a"],"i":["x"]}`), `no command is called "reboot"`},
		{"a command that is an engine's own", fmt.Sprintf(frame, `{"k":"tick","with":{},"o":["a"],"i":["x"]}`), `no command is called "tick"`},
		{"a command for the program", fmt.Sprintf(frame, `{"k":"program-switch","with":{},"i":["x"]}`), "1 ids for 0 objects"},
		{"a command for the program without an id", fmt.Sprintf(frame, `{"k":"program-switch","with":{}}`), "0 ids for 0 objects"},
		{"an id too few", fmt.Sprintf(frame, `{"k":"notify","with":{},"o":["a","b"],"i":["x"]}`), "1 ids for 2 objects"},
		{"an empty id", fmt.Sprintf(frame, `{"k":"notify","with":{},"o":["a"],"i":[""]}`), "use 1 to 128"},
		{"a long id", fmt.Sprintf(frame, `{"k":"notify","with":{},"o":["a"],"i":["`+strings.Repeat("x", 129)+`"]}`), "has 129 bytes"},
		{"an object without a name", fmt.Sprintf(frame, `{"k":"notify","with":{},"o":[""],"i":["x"]}`), "an object without a name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := decode([]byte(tt.give), 10); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	t.Logf("%d messages", len(tests))
}

func TestAnAnswerOfAnotherVersionIsNotTakenForOne(t *testing.T) {
	for _, text := range []string{`{"v":2,"engine":"e2"}`, `{}`, ``, `done`} {
		if _, err := decodeAnswer([]byte(text)); err == nil {
			t.Errorf("%q is read as an answer", text)
		}
	}
	long := strings.Repeat("x", 3*mostText)
	if data := (answer{Results: []result{newResult(1, journal.Position{}, &Failure{Code: Failed, Text: long})}}).encode(); !json.Valid(data) || len(data) > 2*mostText {
		t.Errorf("an answer with a long text has %d bytes", len(data))
	}
}

func TestSubjectsAreOneTokenForEveryName(t *testing.T) {
	for _, id := range []string{"e1", "host.example.com", "a b", "*", ">", "é"} {
		s := Subject("", id)
		if rest, ok := strings.CutPrefix(s, "jaque.cmd."); !ok || rest == "" || strings.ContainsAny(rest, ".*> ") {
			t.Errorf("the subject of engine %q is %q", id, s)
		}
	}
	if got := Subject("lab", "e1"); got != "lab.jaque.cmd.e1" || Everywhere("lab") != "lab.jaque.cmd.*" {
		t.Errorf("with a prefix: %s and %s", got, Everywhere("lab"))
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"hop":1,"from":"e1","do":[{"k":"acknowledge","with":{"Kind":2,"Author":"ann"},"o":["web01","web01!http"],"i":["x.0","x.1"]}]}`,
		`{"v":1,"hop":2,"from":"e1","do":[]}`, `{"v":2}`, `{}`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, all, err := decode(data, 100)
		if err != nil {
			return
		}
		var pieces []piece
		for i := range all {
			p, err := newPiece(&all[i])
			if err != nil {
				t.Fatalf("%v of what was read from %q", err, data)
			}
			pieces = append(pieces, p)
		}
		_, back, err := decode(encode("e1", pieces), 100)
		if err != nil || !reflect.DeepEqual(back, all) {
			t.Fatalf("read back %+v (%v), want %+v", back, err, all)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"v":1,"engine":"e2","r":[{"i":1,"c":"refused","t":"no","why":"late","o":"a","d":"no"}]}`))
	f.Add([]byte(`{"v":1,"all":{"c":"busy"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := decodeAnswer(data)
		if err != nil {
			return
		}
		b := &batch{calls: make([]*call, 2), left: 2}
		for i := range b.calls {
			b.calls[i] = &call{done: make(chan outcome, 1)}
		}
		c := &Client{sent: map[uint64]*batch{1: b}}
		c.settleSome(1, a.Results) // no index of it does harm
		for i := range a.Results {
			_ = a.Results[i].error()
		}
	})
}
