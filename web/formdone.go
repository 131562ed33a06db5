package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// How much of what became of commands is kept for the pages that say so.
const (
	mostOutcomes = 64
	mostResults  = 1000
)

// outcomes keeps what became of the last commands of forms, so that the page
// after a command can say it and a reload does not send the command again. They
// stand on the log; what is lost with the process is only this.
type outcomes struct {
	mu    sync.Mutex
	byID  map[string]*outcome
	order []string
}

// outcome is what became of one command.
type outcome struct {
	command string
	what    string // switches or setting, in the words of the form
	target  string // what it was for where that is not the object of a result
	nothing bool   // it was so already
	back    string
	counts  map[string]int // by what the results say
	results []view.Result  // what went wrong first
	rest    int
}

func (o *outcomes) put(id string, done *outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]*outcome{}
	}
	if o.byID[id] == nil {
		o.order = append(o.order, id)
	}
	o.byID[id] = done
	for len(o.order) > mostOutcomes {
		delete(o.byID, o.order[0])
		o.order = o.order[1:]
	}
}

func (o *outcomes) get(id string) *outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id]
}

// carryOut does what the form asks for and leads to the page that says what
// became of it.
func (d *draft) carryOut(w http.ResponseWriter, p *plan) error {
	do := func(r *http.Request) ([]byte, error) {
		report, err := d.site.perform(r, &p.q, p.actions)
		if err != nil {
			return nil, err
		}
		to := d.back()
		d.site.outcomes.put(report.ID, d.site.newOutcome(p, to, &report))
		if len(report.Results) > 1 {
			return []byte("/done/" + url.PathEscape(report.ID)), nil
		}
		return []byte(withDid(to, report.ID)), nil
	}
	var to []byte
	var err error
	if key, content := d.key(); key != "" {
		r, cancel := detached(d.request)
		defer cancel()
		to, err = d.site.onces.do(r.Context(), key, content, func() ([]byte, error) { return do(r) })
	} else {
		to, err = do(d.request)
	}
	if err != nil {
		return d.refuse(w, err)
	}
	d.leave(w, string(to))
	return nil
}

// leave leads away from a form that was carried out.
func (d *draft) leave(w http.ResponseWriter, to string) {
	if name := d.values.Get("author"); name != "" {
		keep(w, nameCookie, name)
	}
	if d.command() == "schedule-downtime" && d.values.Get("timezone") != "" {
		keep(w, zoneCookie, d.zone.String())
	}
	http.Redirect(w, d.request, to, http.StatusSeeOther)
}

// withDid adds to an address of a page which command came before.
func withDid(to, id string) string {
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	q := u.Query()
	q.Set("did", id)
	u.RawQuery = q.Encode()
	return u.String()
}

func (s *site) newOutcome(p *plan, back string, report *operate.Report) *outcome {
	o := &outcome{command: p.draft.command(), what: p.what(), nothing: p.nothing, target: p.program, back: back, counts: map[string]int{}}
	var fine []view.Result
	for _, r := range report.Results {
		said := s.result(r)
		word, detail := said.Outcome, sentence(said.Detail)
		if word == "unconfirmed" {
			word = "not confirmed"
		}
		o.counts[word]++
		line := view.NewResult(r.Object, word, detail)
		if r.Err != nil {
			o.results = append(o.results, line)
		} else if len(fine) < mostResults {
			fine = append(fine, line)
		}
	}
	o.results = append(o.results, fine...)
	o.results = o.results[:min(len(o.results), mostResults)]
	o.rest = len(report.Results) - len(o.results)
	return o
}

// notice says what became of the command that led to a page.
func (s *site) notice(r *http.Request) view.Notice {
	id := r.URL.Query().Get("did")
	if id == "" {
		return view.Notice{}
	}
	o := s.settled(id, s.outcomes.get(id))
	if o == nil {
		return view.Notice{Tone: "pending", Text: "What became of that command is not kept any more.", Link: view.Link{Label: "See the events", URL: "/events"}}
	}
	words, _ := view.CommandWords(o.command)
	if len(o.results) == 0 {
		return view.Notice{Tone: "ok", Text: "There was nothing to change."}
	}
	line := o.results[0]
	if line.Word == "submitted" {
		return view.Notice{Tone: "pending", Text: submittedText(words.Heading, line.Name), Link: view.Link{Label: "See how it stands", URL: r.URL.RequestURI()}}
	}
	if line.Word == "done" {
		return view.Notice{Tone: "ok", Text: o.doneText(words, line)}
	}
	return view.Notice{Tone: line.Badge.Tone, Text: words.Heading + ": " + line.Word + ". " + line.Detail}
}

// doneText says what was done to one object, or to the whole program.
func (o *outcome) doneText(words view.Command, line view.Result) string {
	name := line.Name
	if o.target != "" {
		name = o.target
	}
	turned, turns := map[string]string{"enable": "on", "disable": "off"}[o.command]
	switch {
	case turns && o.nothing:
		return "Nothing to change: " + o.what + " " + isAre(o.what) + " " + turned + " already for " + name + "."
	case turns:
		return "Done: " + o.what + " " + isAre(o.what) + " " + turned + " now for " + name + "."
	case o.command == "set" && o.nothing:
		return "Nothing to change: " + name + " has " + o.what + " already."
	case o.command == "set":
		return "Done: " + name + " has " + o.what + " now."
	}
	return "Done: " + name + " " + words.Done + "."
}

// isAre returns the verb for labels of switches, most of which are plural.
func isAre(what string) string {
	if strings.Contains(what, ",") || strings.HasSuffix(what, "s") {
		return "are"
	}
	return "is"
}

// done shows what became of a command for many objects.
func (s *site) done(w http.ResponseWriter, r *http.Request) error {
	o := s.settled(r.PathValue("id"), s.outcomes.get(r.PathValue("id")))
	if o == nil {
		return faultf(http.StatusNotFound, "what became of that command is not kept any more; the events say it")
	}
	words, _ := view.CommandWords(o.command)
	c := s.chrome(r, words.Heading, "")
	c.Live = ""
	v := view.Outcome{Chrome: c, Heading: words.Heading, Lines: o.results, Back: o.back}
	for _, word := range []string{"submitted", "done", "refused", "failed", "not confirmed"} {
		if n := o.counts[word]; n > 0 {
			v.Parts = append(v.Parts, view.NewPart(word, n))
		}
	}
	if o.rest > 0 {
		v.Rest = "and " + view.Number(o.rest) + " more"
		if !s.submits() {
			v.Rest += " that were done"
		}
	}
	return s.render(w, r, http.StatusOK, page.Outcome(v))
}
