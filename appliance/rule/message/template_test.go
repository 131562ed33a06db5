package message_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/message"
)

func TestOperatorsTemplatesSayWhatOperatorsWant(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	tests := []struct{ name, template, want string }{
		{"the first entry is at hand", "{{.Host}}/{{.Service}} {{.State}} {{.Output}}", "web01/disk CRITICAL DISK CRITICAL - free space: /var 312 MiB (3% inode=88%):"},
		{"lists", `{{join ", " .Others}} {{range .Items}}<{{.Object}}>{{end}}`, "bob, carol <web01!disk>"},
		{"times are in the message's zone", `{{.Since.Format "15:04"}} {{clock .Since}} {{since .Since}}`, "12:47 2026-11-30 12:47:56 CET 12 min"},
		{"words", `{{upper .Host}} {{lower .State}} {{clip 4 .Host}} {{default "-" .AckBy}} {{plural .Count "problem"}}`, "WEB01 critical web… - 1 problem"},
		{"what jaque would write", "{{.Subject}} | {{.Headline}} | {{.Tone}}", "CRITICAL: disk on web01 | disk on web01 is CRITICAL | crit"},
		{"addresses", "{{.URL}} {{.Acknowledge}}", "https://jaque.example.org/services/web01/disk https://jaque.example.org/do?command=acknowledge&object=web01%21disk"},
		{"named templates", `{{define "x"}}[{{.}}]{{end}}{{template "x" .Host}}{{if .IsHost}}host{{else}}service{{end}}`, "[web01]service"},
		{"the library's own functions", `{{printf "%-6s|%3d" .Host .Number}} {{len .Items}} {{eq .State "CRITICAL"}}`, "web01 |  1 1 true"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			own, err := message.Compile("telegram", "", test.template, "")
			if err != nil {
				t.Fatal(err)
			}
			m := of(item("PROBLEM"))
			m.Zone = zone
			r, err := message.Render(m, own)
			if err != nil || r.Trouble != "" {
				t.Fatalf("%v %s", err, r.Trouble)
			}
			if got := strings.TrimSpace(r.Text); !strings.HasPrefix(got, test.want) || r.Short != got {
				t.Errorf("text is %q, short %q, want %q", got, r.Short, test.want)
			}
			if r.HTML != "" {
				t.Error("jaque's HTML stands beside the operator's text, and hides it")
			}
		})
	}
}

func TestTemplatesThatCannotWorkAreRefusedBeforeTheyAreNeeded(t *testing.T) {
	double := strings.Builder{}
	double.WriteString(`{{define "0"}}{{end}}`)
	for i := range 40 {
		fmt.Fprintf(&double, `{{define "%d"}}{{template "%d" .}}{{template "%d" .}}{{end}}`, i+1, i, i)
	}
	tests := []struct{ name, text, html, want string }{
		{"what does not parse", "{{.Host", "", `template text of channel email: text:1: unclosed action`},
		{"an unknown field", "{{.Hostname}}", "", "can't evaluate field Hostname"},
		{"an unknown function", "{{shout .Host}}", "", `function "shout" not defined`},
		{"an unknown template", `{{template "x" .}}`, "", `"x"`},
		{"an index out of range", "{{(index .Items 1).Host}}", "", "tried with a message of the kind"},
		{"says nothing", "{{if false}}x{{end}}", "", "it says nothing"},
		{"a loop that only counts", "x{{range 1000000000}}{{end}}", "", "works without end"},
		{"loops in loops", "x{{range .Items}}{{range $.Items}}{{range $.Items}}{{end}}{{end}}{{end}}", "", "works without end"},
		{"a template that calls itself", `{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}`, "", "template x calls itself (x → x); use {{range}} instead"},
		{"templates that call each other", `{{define "x"}}{{if .}}{{template "y" .}}{{end}}{{end}}{{define "y"}}{{with .}}{{template "x" .}}{{end}}{{end}}x`, "", "calls itself (x → y → x)"},
		{"templates that double", double.String() + `x{{template "40" .}}`, "", "works without end"},
		{"a loop that writes", "{{range 100000}}{{$.Output}}{{end}}", "", "writes more than 256 KiB"},
		{"a text that doubles", `{{$x := "xxxx"}}{{range 64}}{{$x = printf "%s%s" $x $x}}{{end}}x`, "", "256 KiB"},
		{"a text that doubles by escaping", `{{$x := "\\\\"}}{{range 64}}{{$x = js $x}}{{end}}x`, "", "256 KiB"},
		{"much work on long texts", `{{$x := printf "%900s" ""}}x{{range 100000}}{{$y := upper $x}}{{end}}`, "", "works without end"},
		{"a printf as wide as the memory", `{{printf "%1000000d" 1}}`, "", "widths below 1000"},
		{"a printf of a width from elsewhere", `{{printf "%*d" 1000000 1}}`, "", "widths below 1000"},
		{"html that ends in an attribute", "", `<a href="{{.URL}}`, "template html of channel email"},
		{"html that loops", "", "{{range 1000000000}}{{end}}", "works without end"},
		{"html that calls itself", "", `{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}`, "calls itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := message.Compile("email", "", test.text, test.html)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
		})
	}
	if _, err := message.Compile("email", "{{.Nothing}}", "", ""); err == nil || !strings.Contains(err.Error(), "template subject of channel email") {
		t.Errorf("subject: %v", err)
	}
}

func TestNobodyMissesAPageBecauseOfATemplate(t *testing.T) {
	for _, part := range []string{"subject", "text", "html"} {
		// It works with every sample, and fails with a storm.
		texts := map[string]string{part: "x {{if gt .Count 300}}{{(index .Items 5000).Host}}{{end}}"}
		own, err := message.Compile("email", texts["subject"], texts["text"], texts["html"])
		if err != nil {
			t.Fatal(err)
		}
		r, err := message.Render(behindSwitch(400), own)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Trouble, "template "+part+" of channel email") {
			t.Errorf("trouble is %q", r.Trouble)
		}
		text := strings.Join(strings.Fields(r.Text), " ")
		if !strings.Contains(text, "Your template for email failed, so this is jaque's own text") || !strings.Contains(r.HTML, "Your template for email failed") ||
			r.Subject != "DOWN: sw1, 400 services behind it" {
			t.Errorf("subject %q, text\n%s", r.Subject, r.Text)
		}
	}
}

func TestMarksStandAboveOperatorsTexts(t *testing.T) {
	own, err := message.Compile("chat", "", "my words", "")
	if err != nil {
		t.Fatal(err)
	}
	m := of(item("PROBLEM"))
	m.Repeat = true
	r, err := message.Render(m, own)
	if err != nil {
		t.Fatal(err)
	}
	want := "!! You may have got this before: jaque was restarted while it was sent.\n\nmy words"
	if r.Text != want+"\n" || r.Short != want {
		t.Errorf("text is %q, short %q", r.Text, r.Short)
	}
}

func TestASubjectOfAnOperatorIsOneLineToo(t *testing.T) {
	own, err := message.Compile("email", "{{.Host}}\r\nBcc: x@example.org\n{{.State}}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := message.Render(of(item("PROBLEM")), own)
	if err != nil || r.Subject != "web01 Bcc: x@example.org CRITICAL" {
		t.Errorf("subject is %q: %v", r.Subject, err)
	}
	if !strings.Contains(r.HTML, "<title>web01 Bcc: x@example.org CRITICAL</title>") {
		t.Error("jaque's HTML does not stand beside an operator's subject")
	}
}

func TestHTMLOfOperatorsIsEscaped(t *testing.T) {
	own, err := message.Compile("email", "", "", `<p title="{{.Output}}">{{.Output}}</p><a href="{{.Output}}">x</a>`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := message.Render(of(item("PROBLEM", func(it *message.Item) {
		it.Measure.Output = `javascript:alert("1")<b>`
	})), own)
	want := `<p title="javascript:alert(&#34;1&#34;)&lt;b&gt;">javascript:alert(&#34;1&#34;)&lt;b&gt;</p><a href="#ZgotmplZ">x</a>`
	if err != nil || r.HTML != want {
		t.Errorf("html is %s: %v", r.HTML, err)
	}
}

func TestAMessageAboutNothingIsAnError(t *testing.T) {
	if _, err := message.Render(&message.Message{}, nil); err == nil {
		t.Error("no error")
	}
}

// A storm stays readable, whatever its size, and a message says the same whenever
// it is rendered.
func TestAStormIsBoundedAndTheSameEachTime(t *testing.T) {
	m := behindSwitch(5000)
	start := time.Now()
	first, err := message.Render(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Text) > 8<<10 || len(first.HTML) > 64<<10 || first.Subject != "DOWN: sw1, 5000 services behind it" {
		t.Errorf("text %d bytes, html %d bytes, subject %q", len(first.Text), len(first.HTML), first.Subject)
	}
	t.Logf("5001 objects in %s", time.Since(start))
	for range 3 {
		m.Items = append(m.Items[1:], m.Items[0]) // the order of the items is not what sorts them
		again, err := message.Render(m, nil)
		if err != nil || again != first {
			t.Fatalf("rendered otherwise: %v", err)
		}
	}
}

func TestTheRootIsNamedAlsoWhereItsOwnContactIsSomebodyElse(t *testing.T) {
	m := behindSwitch(3)
	m.Items = m.Items[1:]
	r, err := message.Render(m, nil)
	if err != nil || r.Subject != "DOWN: 3 services behind sw1" || !strings.HasPrefix(r.Text, "sw1 is DOWN and explains 3 problems behind it\n") {
		t.Errorf("subject %q, %v\n%s", r.Subject, err, r.Text)
	}
	m.Items = m.Items[:1]
	if r, err = message.Render(m, nil); err != nil || !strings.Contains(r.Text, "sw1, which is DOWN and explains it") {
		t.Errorf("%v\n%s", err, r.Text)
	}
}

func TestLengthsReadAsPeopleSayThem(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": 0, "59 s": 59*time.Second + 999*time.Millisecond, "1 min": time.Minute, "9 min 59 s": 9*time.Minute + 59*time.Second,
		"10 min": 10*time.Minute + 30*time.Second, "1 h": time.Hour, "23 h 59 min": 24*time.Hour - time.Second, "1 day": 24 * time.Hour, "3 days 4 h": 76 * time.Hour,
	} {
		m := of(item("RECOVERY", ok, func(it *message.Item) { it.Since = noon.Add(-max(d, time.Millisecond)) }))
		if d == 0 {
			m.Items[0].Since = noon - 1
		}
		r, err := message.Render(m, nil)
		if err != nil || !strings.HasSuffix(r.Subject, " after "+want) {
			t.Errorf("%s: %q %v", want, r.Subject, err)
		}
	}
}
