package message_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// spoiled is a message in which everything that people or plugins say is one text.
func spoiled(text string) *message.Message {
	h := host(text, text, text)
	o := service(h, text)
	o.Groups, o.Labels = []string{text, "web"}, map[string]string{text: text}
	o.Rule.Notes = text
	it := item("PROBLEM", by(text, text))
	it.ID, it.Object = o.ID, o
	it.Measure = &event.Measure{Output: text, Long: text + "\n" + text}
	it.Policy, it.Why, it.Steps, it.Others = text, text, []string{text}, []string{text}
	it.Status.Ack, it.Status.Extra = 1, &event.Extra{AckAuthor: text, AckText: text, AckTime: noon}
	second := item("CUSTOM", by(text, text))
	m := of(it, second)
	m.Contact, m.Channel, m.Version, m.ID, m.Thread = &object.Contact{Name: text}, text, text, text, text
	m.Root = object.ID(text)
	return m
}

// harmless complains about what must not reach a reader.
func harmless(t *testing.T, r message.Rendered) {
	t.Helper()
	if strings.ContainsAny(r.Subject, "\r\n\t") || r.Subject == "" {
		t.Errorf("subject is not one line: %q", r.Subject)
	}
	for part, text := range map[string]string{"subject": r.Subject, "text": r.Text, "html": r.HTML, "short": r.Short} {
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8", part)
		}
		for _, c := range text {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				t.Errorf("%s holds %U", part, c)
				break
			}
		}
		if len(text) > 256<<10 {
			t.Errorf("%s has %d bytes", part, len(text))
		}
	}
	if n := utf8.RuneCountInString(r.Short); n > 300 {
		t.Errorf("short text of %d characters", n)
	}
	if n := utf8.RuneCountInString(r.Subject); n > 150 {
		t.Errorf("subject of %d characters", n)
	}
	lower := strings.ToLower(r.HTML)
	for _, tag := range []string{"<script", "<img", "<iframe", `href="javascript`} {
		if strings.Contains(lower, tag) {
			t.Errorf("html holds %s", tag)
		}
	}
	if n := strings.Count(lower, "<table"); n != strings.Count(lower, "</table>") {
		t.Error("the tables of the html do not fit")
	}
}

func TestWhatPluginsAndPeopleSayHarmsNobody(t *testing.T) {
	for _, text := range hostile {
		m := spoiled(text)
		r, err := message.Render(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, r)
		m.Items = m.Items[:1]
		if r, err = message.Render(m, nil); err != nil {
			t.Fatal(err)
		}
		harmless(t, r)
	}
}

func FuzzRender(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	own, err := message.Compile("email", "{{.Output}}", "{{.Host}} {{.Output}} {{range .Long}}{{.}}{{end}} {{.Contact}}",
		`<a href="{{.Output}}" title={{.Host}} style="color:{{.Text}}">{{.Output}}</a>`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, template := range []*message.Template{nil, own} {
			r, err := message.Render(spoiled(text), template)
			if err != nil {
				t.Fatal(err)
			}
			// A text of nothing but spaces is none: jaque's stands in.
			if r.Trouble != "" && !strings.Contains(r.Trouble, "says nothing") {
				t.Fatal(r.Trouble)
			}
			harmless(t, r)
		}
	})
}

func TestBadAddressesOfTheDashboardMakeNoLinks(t *testing.T) {
	for _, address := range []string{"", "javascript:alert(1)", "ftp://x", "https://", "//x", "::", "https://x/\r\nBcc: y"} {
		m := of(item("PROBLEM"))
		m.URL = address
		r, err := message.Render(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.HTML, "<a ") || strings.Contains(r.Text, "/services/") {
			t.Errorf("%q makes links:\n%s", address, r.Text)
		}
	}
}
