package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// doPath is the address of every form of a command. GET shows the form for what
// the query names, POST reads it: it answers with the form again while something
// is wrong, with a look at what will be done where that is more than one object
// or time, and else does it.
const doPath = "/do"

// Cookies of what a browser's forms were filled in with last.
const (
	nameCookie = "jaque_name"
	zoneCookie = "jaque_zone"
)

// draft is a form as it was filled in. Its values have the names of the API; times
// are without a zone and lengths with units, see canonical.
type draft struct {
	site    *site
	request *http.Request
	values  url.Values
	now     time.Time
	zone    *time.Location    // of the times in it
	wrong   map[string]string // what is wrong, by field; "" = with the whole
	fresh   bool              // nothing was filled in yet
}

func (s *site) newDraft(r *http.Request, v url.Values) *draft {
	if v.Get("filter") != "" && v.Get("target") == "" {
		v.Del("object") // all that match were chosen, whatever rows were
	}
	d := &draft{site: s, request: r, values: v, now: s.Now(), wrong: map[string]string{}}
	name := strings.TrimSpace(v.Get("timezone"))
	if name == "" {
		name = kept(r, zoneCookie)
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		if v.Get("timezone") != "" {
			d.wrong["timezone"] = "no time zone is called " + name + "; write one as in Europe/Madrid, or UTC"
		}
		zone = time.UTC
	}
	d.zone = zone
	return d
}

// kept returns what a cookie says, as it was before it was escaped.
func kept(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return text
}

// keep makes the browser remember what was filled in.
func keep(w http.ResponseWriter, name, text string) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: url.QueryEscape(text), Path: "/", HttpOnly: name == nameCookie, SameSite: http.SameSiteLaxMode, MaxAge: 400 * 24 * 3600,
	})
}

// cannot says why this browser may not write, "" = it may.
func (s *site) cannot(r *http.Request) string {
	switch {
	case !s.takesCommands():
		return s.readsOnly()
	case s.Token == "" && !local(r):
		return "without a token only browsers on the same machine may write"
	case s.Token != "" && !s.signedIn(r):
		return "sign in to change anything"
	}
	return ""
}

// openForm shows the form that the query asks for, or what there is to choose.
func (s *site) openForm(w http.ResponseWriter, r *http.Request) error {
	d := s.newDraft(r, r.URL.Query())
	d.fresh = true
	if d.command() == "" {
		return s.render(w, r, http.StatusOK, page.Menu(d.menu()))
	}
	if _, ok := view.CommandWords(d.command()); !ok {
		return faultf(http.StatusNotFound, "no command is called %q", d.command())
	}
	d.check() // a name that nothing has is said at once
	return d.show(w, http.StatusOK)
}

// takeForm reads a form that was sent.
func (s *site) takeForm(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWrite(r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, largest)
	if err := r.ParseForm(); err != nil {
		return unread(err)
	}
	if _, asked := r.PostForm["author"]; !asked { // a button alone
		r.PostForm.Set("author", kept(r, nameCookie))
	}
	d := s.newDraft(r, r.PostForm)
	if _, ok := view.CommandWords(d.command()); !ok {
		return faultf(http.StatusBadRequest, "no command is called %q", d.command())
	}
	return d.step(w)
}

// step takes a form one step further.
func (d *draft) step(w http.ResponseWriter) error {
	step := d.values.Get("step")
	if step == "edit" {
		return d.show(w, http.StatusOK)
	}
	if step != "preview" {
		if done, err := d.again(w); done {
			return err
		}
	}
	p, err := d.intend()
	if step == "preview" {
		return d.preview(w, p, err)
	}
	if err != nil {
		return d.refuse(w, err)
	}
	if looks := p.many() || d.asksReview(); looks && step == "" {
		if d.values.Get("reviewed") == "" || d.values.Get("shown") == "" {
			return d.review(w, http.StatusOK, p, "")
		}
		if problem := p.changed(); problem != "" {
			d.values.Del("confirm")
			return d.review(w, http.StatusConflict, p, problem)
		}
	}
	if problem := p.unconfirmed(d.values.Get("confirm")); problem != "" {
		return d.review(w, http.StatusConflict, p, problem)
	}
	return d.carryOut(w, p)
}

// preview answers with the form and what it touches. A form that is not
// complete yet is told only what is wrong with what was filled in.
func (d *draft) preview(w http.ResponseWriter, p *plan, err error) error {
	if err == nil {
		d.wrong = map[string]string{}
		return d.showWith(w, http.StatusOK, p.preview())
	}
	f := asFault(err)
	if f == nil {
		return err
	}
	if len(d.wrong) == 0 {
		d.wrong[f.Field] = said(f)
	}
	for _, name := range []string{"author", "comment"} {
		if d.values.Get(name) == "" {
			delete(d.wrong, name)
		}
	}
	var v view.Preview
	if p != nil && len(d.wrong) == 0 {
		v = p.preview()
	}
	return d.showWith(w, http.StatusOK, v)
}

// refuse shows the form again with what is wrong.
func (d *draft) refuse(w http.ResponseWriter, err error) error {
	f := asFault(err)
	if f == nil {
		return err
	}
	if len(d.wrong) == 0 {
		d.wrong[f.Field] = said(f)
	}
	return d.show(w, f.Status)
}

func (d *draft) command() string { return d.values.Get("command") }

// back returns where the form was opened.
func (d *draft) back() string {
	to := back(d.request)
	if to == "/" && d.request.Method == http.MethodGet && d.values.Get("back") == "" {
		if ids := d.objects(); len(ids) == 1 && d.site.Projection.Set().Get(ids[0]) != nil {
			return view.URL(ids[0])
		}
	}
	return to
}

func (d *draft) show(w http.ResponseWriter, status int) error {
	return d.showWith(w, status, view.Preview{})
}

// showWith answers with the form as it was filled in.
func (d *draft) showWith(w http.ResponseWriter, status int, p view.Preview) error {
	words, _ := view.CommandWords(d.command())
	c := d.site.chrome(d.request, words.Heading, "")
	c.Live = ""
	v := view.Sheet{
		Chrome: c, Heading: words.Heading, Command: d.command(), Submit: words.Submit, Dismiss: words.Dismiss, Danger: words.Danger, Why: d.site.cannot(d.request),
		Target: d.target(), Fields: d.fields(), Back: d.back(), Preview: p, Review: d.mayBeMany(),
	}
	if d.asksReview() {
		v.Submit = words.Many
	}
	if d.site.Token != "" && v.Why != "" && d.site.takesCommands() {
		v.SignIn = "/sign-in?" + url.Values{"back": {d.request.URL.RequestURI()}}.Encode()
	}
	v.Notes = d.acknowledged(d.objects())
	if d.values.Get("id") != "" {
		_, v.Over = d.named()
	}
	known := map[string]bool{}
	focused := false
	for i := range v.Fields {
		f := &v.Fields[i]
		known[f.Name] = true
		f.Error = d.wrong[f.Name]
		if f.Error != "" && !focused {
			f.Focus, focused = true, true
		}
	}
	if !focused {
		d.focus(v.Fields)
	}
	for _, name := range sortedKeys(d.wrong) {
		if !known[name] {
			v.Error = strings.TrimSpace(v.Error + " " + d.wrong[name])
		}
	}
	v.Hidden = append(d.hidden(known), view.Pair{Name: "once", Value: d.once()})
	return d.site.render(w, d.request, status, page.Sheet(v))
}

// focus gives the focus to the first field that is empty and must not be, else to
// the first one.
func (d *draft) focus(fields []view.Field) {
	n := slices.IndexFunc(fields, func(f view.Field) bool { return f.Required && f.Value == "" && len(f.Options) == 0 })
	if n < 0 {
		n = 0
	}
	if n < len(fields) {
		fields[n].Focus = true
	}
}

// hidden returns the values that the form has no field for: what it is about.
func (d *draft) hidden(known map[string]bool) []view.Pair {
	var out []view.Pair
	for _, name := range []string{"object", "group", "filter", "kind", "program", "contact", "id", "what", "setting", "value", "scope", "start"} {
		if known[name] || name == "start" && d.command() != "cancel-downtime" {
			continue
		}
		for _, v := range d.values[name] {
			if v != "" {
				out = append(out, view.Pair{Name: name, Value: v})
			}
		}
	}
	if !known["timezone"] { // the times mean what they meant when they were filled in
		out = append(out, view.Pair{Name: "timezone", Value: d.zone.String()})
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sentence makes a sentence of an error text.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	// A name of an object in front stays as it is.
	if word, _, _ := strings.Cut(text, " "); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz,;") == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return text
}

// errIncomplete says that a form has errors in its fields, which the draft holds.
var errIncomplete = errors.New("the form is not complete")
