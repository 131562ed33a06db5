package client

// What the API says of notifications, as far as the commands need it.

// explanation says who is told of an object and why.
type explanation struct {
	Object    string   `json:"object"`
	At        string   `json:"at"`
	Past      bool     `json:"past"`
	Condition string   `json:"condition"`
	Supposed  string   `json:"supposed"`
	Decision  decision `json:"decision"`
	Next      struct {
		Text string `json:"text"`
	} `json:"next"`
	Ahead []struct {
		At     string   `json:"at"`
		Number int      `json:"number"`
		Times  int      `json:"times"`
		More   bool     `json:"more"`
		Steps  []string `json:"steps"`
		Told   []string `json:"told"`
	} `json:"ahead"`
	Recorded []notification `json:"recorded"`
	Caveats  []string       `json:"caveats"`
}

// onClock rewrites the times in the sentences of an explanation.
func (e *explanation) onClock(k clock) {
	texts := []*string{&e.Condition, &e.Supposed, &e.Decision.Verdict, &e.Decision.If, &e.Next.Text}
	for i := range e.Caveats {
		texts = append(texts, &e.Caveats[i])
	}
	gates := func(all []gate) {
		for i := range all {
			texts = append(texts, &all[i].Why)
		}
	}
	gates(e.Decision.Gates)
	for i := range e.Decision.Contacts {
		p := &e.Decision.Contacts[i]
		texts = append(texts, &p.Why, &p.If)
		gates(p.Gates)
	}
	for i := range e.Recorded {
		texts = append(texts, &e.Recorded[i].Why)
	}
	for _, text := range texts {
		*text = k.text(*text)
	}
}

// decision is one decision about telling people.
type decision struct {
	Verdict  string   `json:"verdict"`
	If       string   `json:"would_be_sent_if"`
	Gates    []gate   `json:"gates"`
	Contacts []person `json:"contacts"`
}

// gate is the verdict of one gate.
type gate struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // passed, blocked, not reached
	Meaning string `json:"meaning"`
	Why     string `json:"why"`
}

// person is the verdict about one contact.
type person struct {
	Name     string   `json:"name"`
	Says     string   `json:"says"` // told, not told, would be told, given up
	Why      string   `json:"why"`
	If       string   `json:"would_be_told_if"`
	Channels []string `json:"channels"`
	Gates    []gate   `json:"gates"`
}

// notification is a decision that stands on the log.
type notification struct {
	Time       string     `json:"time"`
	Object     string     `json:"object"`
	State      string     `json:"state"`
	Kind       string     `json:"kind"`
	Send       bool       `json:"send"`
	Number     int        `json:"number"`
	Why        string     `json:"why"`
	Contacts   []person   `json:"contacts"`
	Deliveries []delivery `json:"deliveries"`
}

// says is what the decision came to: told, not told, or given up where every message
// was.
func (n *notification) says() string {
	if !n.Send {
		return "not told"
	}
	for _, d := range n.Deliveries {
		if d.Status != "abandoned" {
			return "told"
		}
	}
	if len(n.Deliveries) > 0 {
		return "given up"
	}
	return "told"
}

// delivery is one message to one contact over one channel.
type delivery struct {
	Contact  string `json:"contact"`
	Channel  string `json:"channel"`
	Status   string `json:"status"` // waiting, failed, delivered, abandoned, unknown
	Time     string `json:"time"`
	Attempts int    `json:"attempts"`
	Reason   string `json:"reason"`
	Repeat   bool   `json:"repeat"`
	With     int    `json:"with"`
}

// openRequest is a message that is not delivered yet.
type openRequest struct {
	Time     string `json:"time"`
	Object   string `json:"object"`
	Kind     string `json:"kind"`
	Contact  string `json:"contact"`
	Channel  string `json:"channel"`
	Failures int    `json:"failures"`
	Reason   string `json:"reason"`
}

// tested is what became of a message that was sent to try a contact.
type tested struct {
	Delivered bool `json:"delivered"`
	Outcomes  []struct {
		Channel   string  `json:"channel"`
		Delivered bool    `json:"delivered"`
		Reason    string  `json:"reason"`
		Seconds   float64 `json:"seconds"`
	} `json:"outcomes"`
}
