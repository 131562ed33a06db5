package message

import (
	"bytes"
	html "html/template"
	"strconv"
)

// colours are what tones look like: dark enough for white text on them, by day and
// by night. Constant.
var colours = map[string]string{
	"crit": "#b3261e", "warn": "#8f5c00", "unknown": "#6b3fb0", "ok": "#1d6f4a", "calm": "#4d5660",
}

// view is what jaque's own HTML is made of.
type view struct {
	Title, Headline, Colour, Badge string
	Preview                        string // shown in lists of mails
	Marks                          []string
	Said                           string // in somebody's own words
	Output                         string
	Long                           []string
	Omitted                        string
	Facts                          []fact
	Rows                           []row
	Tally                          []row
	TallyName                      string
	Rest                           string
	Buttons                        []fact
	Hint                           string
	Foot                           []string
	Explain                        string
	Signature                      string
}

// row is one object of a group, or one number of the tally.
type row struct{ Badge, Colour, Title, URL, Text string }

// page is jaque's own HTML.
func (d *Data) page() (string, error) {
	t, err := html.New("mail").Parse(mailHTML)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = t.Execute(&out, d.view())
	return out.String(), err
}

func (d *Data) view() *view {
	v := &view{
		Title: d.Subject, Headline: d.Headline, Colour: colours[d.Tone], Badge: d.badge(), Preview: or(d.Output, d.why()),
		Marks: d.marks(), Foot: d.told(), Explain: d.Explain, Signature: d.signature(), Hint: d.hint(),
	}
	if d.Count > 1 {
		d.rows(v)
	} else {
		v.Said, v.Output, v.Long, v.Facts = d.said(), d.Output, d.Long, d.facts()
		if d.Omitted > 0 {
			v.Omitted = "… and " + plural(d.Omitted, "line") + " more"
		}
	}
	if d.Count > 0 && d.URL != "" {
		v.Buttons = append(v.Buttons, fact{"Open in jaque", d.URL})
		if d.Acknowledge != "" {
			v.Buttons = append(v.Buttons, fact{"Acknowledge", d.Acknowledge})
		}
	}
	if d.Count != 1 && d.Dashboard != "" {
		v.Buttons = append(v.Buttons, fact{"Dashboard", d.Dashboard + "/"})
	}
	return v
}

// rows fills in a group.
func (d *Data) rows(v *view) {
	for _, c := range d.Counts {
		v.Tally = append(v.Tally, row{Badge: strconv.Itoa(c.N) + " " + c.State, Colour: colours[c.Tone]})
	}
	items := d.named()
	for i := range items {
		e := &items[i]
		text := e.Output
		if e.Kind != problem {
			text = e.Says
		}
		v.Rows = append(v.Rows, row{Badge: e.badge(), Colour: colours[e.Tone], Title: e.Title, URL: e.URL, Text: clip(text, 160)})
	}
	if rest := d.Count - len(items); rest > 0 {
		v.Rest = "… and " + strconv.Itoa(rest) + " more"
	}
	v.TallyName = d.tallyName()
	if since := d.sinceWhen(&d.Entry); since != "" {
		v.Facts = []fact{{"Since", since}}
	}
}

// badge is the word that the colour belongs to.
func (d *Data) badge() string {
	if d.Test {
		return "TEST"
	}
	return d.Entry.badge()
}

func (e *Entry) badge() string {
	switch e.Kind {
	case problem:
		return e.State
	case recovery:
		return "RECOVERED"
	case acknowledgement:
		return "ACKNOWLEDGED"
	case flapStart:
		return "FLAPPING"
	case flapStop, flapDisabled:
		return "FLAPPING OVER"
	case downStart:
		return "DOWNTIME"
	case downEnd:
		return "DOWNTIME OVER"
	case downCancelled:
		return "DOWNTIME CANCELLED"
	case custom:
		return "MESSAGE"
	}
	return e.Kind
}

// mailHTML is jaque's own HTML. Mail programs know little: tables carry the layout,
// every style stands with its element, nothing is loaded. The rules in the head are
// only for the dark; where they are taken out, the mail is light.
const mailHTML = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{.Title}}</title>
<style>
@media (prefers-color-scheme: dark) {
.paper { background-color: #10161c !important }
.card { background-color: #172029 !important; border-color: #2a3743 !important }
.ink { color: #e9e4d8 !important }
.dim { color: #a9b4be !important }
.box { background-color: #1f2a35 !important; color: #e9e4d8 !important }
.line { border-color: #2a3743 !important }
.button { background-color: #e9e4d8 !important; color: #10161c !important; border-color: #e9e4d8 !important }
.second { background-color: #172029 !important; color: #e9e4d8 !important; border-color: #a9b4be !important }
.mark { background-color: #3a2f12 !important; color: #f0d28a !important; border-color: #f0b93f !important }
}
</style>
</head>
<body class="paper" style="margin:0;padding:0;background-color:#f6f3ec;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;color:#f6f3ec">{{.Preview}}</div>
<table role="presentation" class="paper" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f6f3ec">
<tr><td align="center" style="padding:16px 8px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;font-family:'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
{{- range .Marks}}
<tr><td style="padding:0 0 12px"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td class="mark" style="padding:10px 16px;background-color:#fbf1d9;color:#5c3b00;border:1px solid #d9a93a;border-radius:8px;font-size:14px;line-height:20px;overflow-wrap:anywhere">{{.}}</td></tr></table></td></tr>
{{- end}}
<tr><td class="card" style="background-color:#fffdf8;border:1px solid #ddd5c5;border-radius:10px;overflow:hidden">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed">
<tr><td height="6" style="height:6px;line-height:6px;font-size:6px;background-color:{{.Colour}};border-radius:9px 9px 0 0">&nbsp;</td></tr>
<tr><td style="padding:20px 24px 4px">
<span style="display:inline-block;padding:3px 10px;background-color:{{.Colour}};color:#ffffff;border-radius:4px;font-size:13px;line-height:18px;font-weight:700;letter-spacing:0.5px">{{.Badge}}</span>
<h1 class="ink" style="margin:12px 0 0;font-size:21px;line-height:28px;font-weight:700;color:#17212b;overflow-wrap:anywhere">{{.Headline}}</h1>
</td></tr>
{{- with .Said}}
<tr><td class="ink" style="padding:12px 24px 0;font-size:16px;line-height:24px;color:#17212b;overflow-wrap:anywhere">{{.}}</td></tr>
{{- end}}
{{- if or .Output .Long}}
<tr><td style="padding:16px 24px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed"><tr><td class="box" style="padding:12px 14px;background-color:#efeadf;color:#17212b;border-left:4px solid {{.Colour}};border-radius:4px;font-family:Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;line-height:20px;overflow-wrap:anywhere;white-space:pre-wrap">
{{- .Output}}{{range .Long}}
{{.}}{{end}}{{with .Omitted}}
{{.}}{{end -}}
</td></tr></table>
</td></tr>
{{- end}}
{{- if .Tally}}
<tr><td class="dim" style="padding:14px 24px 0;font-size:14px;line-height:28px;color:#4d5660"><span style="display:inline-block;margin-right:10px">{{.TallyName}}</span>
{{- range .Tally}}<span style="display:inline-block;margin:0 6px 4px 0;padding:0 9px;border:1px solid {{.Colour}};background-color:{{.Colour}};color:#ffffff;border-radius:12px;font-size:13px;line-height:22px;font-weight:700">{{.Badge}}</span>{{end -}}
</td></tr>
{{- end}}
{{- if .Facts}}
<tr><td style="padding:16px 24px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
{{- range .Facts}}
<tr><td class="dim" valign="top" width="96" style="width:96px;padding:3px 12px 3px 0;font-size:14px;line-height:20px;color:#4d5660">{{.Name}}</td><td class="ink" valign="top" style="padding:3px 0;font-size:14px;line-height:20px;color:#17212b;overflow-wrap:anywhere;word-break:break-word">{{.Text}}</td></tr>
{{- end}}
</table>
</td></tr>
{{- end}}
{{- if .Buttons}}
<tr><td style="padding:18px 24px 0">
{{- range $i, $b := .Buttons}}
{{- if $i}}
<a class="second" href="{{$b.Text}}" style="display:inline-block;margin:0 6px 8px 0;padding:9px 16px;background-color:#fffdf8;color:#17212b;border:1px solid #4d5660;border-radius:6px;font-size:14px;line-height:20px;font-weight:700;text-decoration:none">{{$b.Name}}</a>
{{- else}}
<a class="button" href="{{$b.Text}}" style="display:inline-block;margin:0 6px 8px 0;padding:9px 16px;background-color:#17212b;color:#ffffff;border:1px solid #17212b;border-radius:6px;font-size:14px;line-height:20px;font-weight:700;text-decoration:none">{{$b.Name}}</a>
{{- end}}
{{- end}}
</td></tr>
{{- end}}
{{- with .Hint}}
<tr><td class="dim" style="padding:6px 24px 0;font-size:13px;line-height:20px;color:#4d5660;overflow-wrap:anywhere">In a terminal: <span class="ink" style="display:inline-block;font-family:Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12px;color:#17212b">{{.}}</span></td></tr>
{{- end}}
{{- if .Rows}}
<tr><td style="padding:12px 24px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed">
{{- range .Rows}}
<tr><td class="line" style="padding:9px 0;border-top:1px solid #ddd5c5;font-size:14px;line-height:20px;overflow-wrap:anywhere">
<span style="display:inline-block;margin-right:6px;padding:0 7px;background-color:{{.Colour}};color:#ffffff;border-radius:3px;font-size:11px;line-height:18px;font-weight:700">{{.Badge}}</span>
{{- if .URL}}<a class="ink" href="{{.URL}}" style="color:#17212b;font-weight:700;text-decoration:underline">{{.Title}}</a>{{else}}<span class="ink" style="color:#17212b;font-weight:700">{{.Title}}</span>{{end}}
{{- with .Text}}<br><span class="dim" style="color:#4d5660;font-size:13px">{{.}}</span>{{end}}
</td></tr>
{{- end}}
{{- with .Rest}}
<tr><td class="line dim" style="padding:9px 0 0;border-top:1px solid #ddd5c5;font-size:14px;line-height:20px;color:#4d5660">{{.}}</td></tr>
{{- end}}
</table>
</td></tr>
{{- end}}
<tr><td height="20" style="height:20px;line-height:20px;font-size:1px">&nbsp;</td></tr>
</table>
</td></tr>
<tr><td class="dim" style="padding:14px 25px 4px;font-size:13px;line-height:20px;color:#4d5660;overflow-wrap:anywhere">
{{- range .Foot}}{{.}} {{end}}
{{- with .Explain}}<a class="dim" href="{{.}}" style="color:#4d5660;text-decoration:underline">Every reason</a>{{end -}}
</td></tr>
<tr><td class="dim" style="padding:4px 25px 8px;font-size:12px;line-height:18px;color:#4d5660">{{.Signature}}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
