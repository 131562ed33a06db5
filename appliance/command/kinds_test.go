package command

import (
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

func TestActionsAreTheInverseOfNewPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := actions().Draw(t, "action")
		p, err := NewPart(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Actions()
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("read back %+v (%v), want %+v", got, err, want)
		}
	})
}

func TestAPartFollowsOneThatSaysTheSameForAnotherObject(t *testing.T) {
	ack := fold.Acknowledge{Author: "ann"}
	tests := []struct {
		name string
		a, b operate.Action
		want bool
	}{
		{"the same for another object", operate.Action{Object: "a", Command: ack}, operate.Action{Object: "b", Command: ack}, true},
		{"the same for the same object", operate.Action{Object: "a", Command: ack}, operate.Action{Object: "a", Command: ack}, true},
		{"another author", operate.Action{Object: "a", Command: ack}, operate.Action{Object: "b", Command: fold.Acknowledge{Author: "bob"}}, false},
		{"another command", operate.Action{Object: "a", Command: ack}, operate.Action{Object: "b", Command: fold.ClearFlapping{Author: "ann"}}, false},
		{"one that waits", operate.Action{Object: "a", Command: ack}, operate.Action{Object: "b", Command: ack, Wait: true}, false},
		{"the program", operate.Action{Program: program.Switch{}}, operate.Action{Program: program.Switch{}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, errA := NewPart(&tt.a)
			b, errB := NewPart(&tt.b)
			if errA != nil || errB != nil || b.Follows(&a) != tt.want {
				t.Errorf("follows %t (%v, %v), want %t", b.Follows(&a), errA, errB, tt.want)
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
		if got := Author([]operate.Action{{}, a}); got != want {
			t.Errorf("the author of %+v is %q, want %q", a, got, want)
		}
	}
}
