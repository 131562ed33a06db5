package channel

import (
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/rule/message"
)

// chatText is jaque's own text for chats: the subject, and short lines without columns
// below it, because they are read on a phone in a font of any width.
const chatText = `{{.Subject}}
{{if not .Count}}Nothing has happened. Had it, the message would have come the same way.
{{else if eq .Count 1}}
{{- if and (ne .Kind "CUSTOM") .Output}}{{.Output}}
{{end}}
{{- else}}{{range $i, $c := .Counts}}{{if $i}}, {{end}}{{$c.N}} {{$c.State}}{{end}}
{{range $i, $e := .Items}}{{if lt $i 10}}• {{$e.Says}}{{if and $e.Output (eq $e.Kind "PROBLEM")}}: {{clip 100 $e.Output}}{{end}}
{{end}}{{end}}
{{- if gt .Count 10}}… {{.Count}} in all
{{end}}
{{- end}}
{{- if and .Author .Text}}{{.Author}}: {{.Text}}
{{else if .Text}}{{.Text}}
{{end}}
{{- if not .Since.IsZero}}Since {{clock .Since}}
{{- if eq .Kind "PROBLEM"}}, for {{since .Since}}{{else if .Lasted}}, it lasted {{span .Lasted}}{{end}}
{{end}}
{{- if and .AckBy (eq .Kind "PROBLEM")}}Taken by {{.AckBy}}
{{end}}
{{- if .Others}}Told too: {{join ", " .Others}}
{{end}}
{{- with .URL}}{{.}}
{{end}}`

// ChatTemplate returns jaque's own texts for a kind of chat. Channels that are given
// no template compile it for themselves, which is slow where there are many.
func ChatTemplate(kind string) (*message.Template, error) {
	return message.Compile(kind, "", chatText, "")
}

// orChat returns the operator's template, or jaque's own for chats.
func orChat(own *message.Template, kind string) (*message.Template, error) {
	if own != nil {
		return own, nil
	}
	return ChatTemplate(kind)
}

// chatWords returns what a chat is told: the subject, and the text without it.
func chatWords(w message.Rendered) (subject, text string) {
	lines := strings.Split(w.Short, "\n")
	if i := slices.Index(lines, w.Subject); i >= 0 {
		lines = slices.Delete(lines, i, i+1)
	}
	return w.Subject, strings.Trim(strings.Join(lines, "\n"), "\n")
}

func leftOut(n int) string {
	if n == 1 {
		return "… 1 more line is left out"
	}
	return fmt.Sprintf("… %d more lines are left out", n)
}
