package channel_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/rule/message"
)

func TestTheOperatorsBodySeesThePayloadByTheNamesOfItsJSON(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a JSON of its own", `{"n":{{.count}},"o":{{range $i, $x := .items}}{{if $i}},{{end}}{{json $x.output}}{{end}}}`, `{"n":1,"o":"\"x\" \u003cb\u003e \u0026 'y' $(id) \\ end"}`},
		{"labels", `{{json .first.labels.env}}{{json .first.labels.none}}`, `"prod"""`},
		{"lists", `"{{range .items}}{{join "+" .steps}}{{end}}"`, `"second line"`},
		{"numbers are whole", `{{range .items}}{{.number}}{{end}}0{{.version}}`, `201`},
		{"what may be missing", `{{range .items}}{{with .since}}{{json .}}{{end}}{{end}}`, `"2026-03-01T07:00:00Z"`},
		{"upper and lower", `"{{upper .contact}}{{lower (upper .contact)}}"`, `"ANNann"`},
		{"everything", `{{json .contact}}`, `"ann"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, got := receive(t)
			// 201 is no JSON of a test message, which has no items, so numbers go as text.
			headers := map[string]string{"content-type": "text/plain"}
			if strings.HasPrefix(c.body, "{\"") {
				headers = nil
				c.body = strings.Replace(c.body, `"o":{{range`, `"o":{{if not .items}}0{{end}}{{range`, 1)
			}
			if err := newWebhook(t, channel.WebhookOptions{URL: address, Body: c.body, Headers: headers}).Send(t.Context(), problem()); err != nil {
				t.Fatal(err)
			}
			if p := got(); string(p.body) != c.want {
				t.Errorf("got  %s\nwant %s", p.body, c.want)
			}
		})
	}
}

func TestABodyThatCannotWorkIsRefused(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"no template", "a\n{{.subject", "line 2: unclosed action"},
		{"a name that is not there", `{{.subjekt}}`, "line 1: .subjekt: there is no subjekt; did you mean subject?"},
		{"a name in an item that is not there", `{{range .items}}{{.outputs}}{{end}}`, "did you mean output?"},
		{"a function that is not there", `{{xml .subject}}`, "xml"},
		{"a loop without end", `{{range $i := 1000000000000}}{{end}}`, "does not end"},
		{"loops within loops", `{{range 9000}}{{range 9000}}{{range 9000}}{{end}}{{end}}{{end}}`, "does not end"},
		{"a template that calls itself", `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`, "does not end"},
		{"a loop in a branch", `{{if true}}{{with .version}}{{range 100000000}}{{end}}{{end}}{{end}}`, "does not end"},
		{"an item that a test has not", `{{(index .items 0).host}}`, ".first"},
		{"more than anybody wants", `{{range 1000}}{{printf "%9000s" ""}}{{end}}`, "does not end"},
	} {
		if _, err := channel.CompileBody(c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestABodyThatIsNoJSONIsNotSentAsOne(t *testing.T) {
	address, asked := serve(t, say(200, ""))
	w := newWebhook(t, channel.WebhookOptions{URL: address, Body: `{"a": "{{range .items}}{{.output}}{{end}}"}`})
	checkError(t, w.Send(t.Context(), problem()), false, true, 0, "{{json .subject}}")
	if asked() != 0 {
		t.Error("it was sent")
	}
}

// FuzzEveryTextComesBackFromJSON sends texts as a plugin could print them through
// both bodies and reads them as a receiver does.
func FuzzEveryTextComesBackFromJSON(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, "\\u0000\x00", "\xff\xfe", "</script>", "\u2028", "{{.subject}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := problem()
		m.Items[0].Measure.Output, m.Items[0].Text = text, text
		want := strings.ToValidUTF8(text, "\uFFFD")
		for _, body := range []string{"", `{"items":[{{range .items}}{"output":{{json .output}},"comment":{{json .comment}}}{{end}}]}`} {
			var got struct {
				Items []struct{ Output, Comment string }
			}
			address, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err != nil || json.Unmarshal(b, &got) != nil {
					t.Errorf("%v: %s", err, b)
				}
			})
			if err := newWebhook(t, channel.WebhookOptions{URL: address, Body: body}).Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			same := func(s string) bool {
				return s == want || strings.ToValidUTF8(text, "") == strings.ReplaceAll(s, "\uFFFD", "")
			}
			if len(got.Items) != 1 || !same(got.Items[0].Output) || !same(got.Items[0].Comment) {
				t.Errorf("%q came back as %+v", text, got.Items)
			}
		}
	})
}

func TestThePayloadOfATestIsComplete(t *testing.T) {
	p := channel.NewPayload(test(), message.Rendered{})
	if !p.Test || p.Kind != "TEST" || p.Items == nil || p.Count != 0 {
		t.Errorf("%+v", p)
	}
}
