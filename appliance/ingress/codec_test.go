package ingress

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// inward are the commands that an engine asks of itself alone.
var inward = []string{"fold.Missed", "fold.Remind", "fold.SampleHost", "fold.SetProgramSwitches", "fold.Reroot", "fold.Tick"}

// declared returns the types of a package that have a marker method.
func declared(t *testing.T, name, marker string) (types []string) {
	t.Helper()
	files, err := filepath.Glob("../core/" + name + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != marker {
				continue
			}
			if t, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				types = append(types, name+"."+t.Name)
			}
		}
	}
	return types
}

func TestEveryCommandIsEitherRegisteredOrAnEnginesOwn(t *testing.T) {
	all := append(declared(t, "fold", "command"), declared(t, "program", "program")...)
	if len(all) < 20 {
		t.Fatalf("only %d commands were found, the test proves nothing", len(all))
	}
	for _, name := range all {
		registered := slices.ContainsFunc(reflect.ValueOf(kinds).MapKeys(), func(k reflect.Value) bool { return kinds[k.String()].String() == name })
		if own := slices.Contains(inward, name); registered == own {
			t.Errorf("%s: registered %t, an engine's own %t; add it to kinds, or to the list in this test", name, registered, own)
		}
	}
	t.Logf("%d commands, %d may be submitted", len(all), len(kinds))
}

// The fields are the form of a message: what changes them needs another Version.
func TestTheFieldsOfEveryCommandStayTheSame(t *testing.T) {
	want := map[string]string{
		"result":                   "State Passive Stamped Expired Output Long Perfdata Start Latency Took Next",
		"switch":                   "What On Author Spread",
		"clear-flapping":           "Author",
		"acknowledge":              "Kind Notify Persistent Expires Author Text Entry",
		"remove-acknowledgement":   "Author",
		"add-comment":              "Author Text Persistent Expires Entry",
		"remove-comments":          "ID Number Author",
		"schedule-downtime":        "Downtime{ID Number Comment Author Text Entry Start End Duration Trigger Rule Started}",
		"cancel-downtimes":         "ID Number Rule Trigger Start Text All Author",
		"tune":                     "Name Value Author Spread",
		"set-modified":             "Bits Author",
		"reschedule":               "At Forced Strict Author",
		"delay-notification":       "Until Author",
		"set-notification-number":  "Number Author",
		"notify":                   "Broadcast Forced Increment Author Text",
		"program-switch":           "What On Author",
		"program-switch-contact":   "Name Hosts Services On Author",
		"program-tune-contact":     "Name Setting Value Author",
		"program-contact-modified": "Name Bits HostBits SvcBits Author",
		"program-put-rule":         "Rule{ID Number Author Text Entry Object WithServices Group Filter Start End Duration Ranges Zone}",
		"program-remove-rule":      "ID Over Author",
	}
	for name, typ := range kinds {
		if got := fields(typ); got != want[name] {
			t.Errorf("%s has %s, want %s", name, got, want[name])
		}
	}
	if len(want) != len(kinds) {
		t.Errorf("%d kinds, want %d", len(kinds), len(want))
	}
}

func fields(t reflect.Type) string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Name
		if f.Type.Kind() == reflect.Struct {
			name += "{" + fields(f.Type) + "}"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// actions draws actions of every kind, with texts as JSON can hold them.
func actions() *rapid.Generator[operate.Action] {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return rapid.Custom(func(t *rapid.T) operate.Action {
		v := reflect.New(kinds[rapid.SampledFrom(names).Draw(t, "kind")]).Elem()
		fill(t, v)
		a := operate.Action{Wait: rapid.Bool().Draw(t, "wait")}
		switch c := v.Interface().(type) {
		case fold.Command:
			a.Object, a.Command = object.ID(rapid.StringN(1, 20, 80).Draw(t, "object")), c
		case program.Command:
			a.Program = c
		}
		return a
	})
}

func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(rapid.Int32().Draw(t, "number")))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(rapid.Uint8().Draw(t, "number")))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "given") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		if list := rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "list"); len(list) > 0 {
			v.Set(reflect.ValueOf(list))
		}
	default:
		t.Fatalf("a field of type %s; teach this test to fill it", v.Type())
	}
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

func TestAuthorIsWhoAskedForTheFirstOfTheActions(t *testing.T) {
	for want, a := range map[string]operate.Action{
		"ann": {Command: fold.Acknowledge{Author: "ann"}},
		"bob": {Command: fold.ScheduleDowntime{Downtime: event.Downtime{Author: "bob"}}},
		"cyd": {Program: program.PutRule{Rule: event.DowntimeRule{Author: "cyd"}}},
		"dan": {Program: program.Switch{Author: "dan"}},
		"":    {Command: fold.Result{}},
	} {
		if got := (&Command{Actions: []operate.Action{{}, a}}).Author(); got != want {
			t.Errorf("the author of %+v is %q, want %q", a, got, want)
		}
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
