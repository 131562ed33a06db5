package view

// Bulk is the bar under a list that does something with chosen rows.
type Bulk struct {
	Filter string // of all that matches, "*" = everything; "" = there is no bar
	Kind   string // host, service, "" = both
	All    string // label of the choice of all that matches
	Back   string
	Tools  []Tool // URL holds the command's name
}

// NewBulk returns the bar of a list with a filter that total objects match.
func NewBulk(kind, filter string, total int, back string) Bulk {
	b := Bulk{Filter: first(filter, "*"), Kind: kind, All: "All " + Number(total) + " that match", Back: back}
	if total == 1 {
		b.All = "The one that matches"
	}
	if kind == "" {
		b.All = "All " + Count(total, "problem", "problems")
	}
	for _, name := range []string{"acknowledge", "schedule-downtime", "add-comment", "check-now"} {
		w, _ := CommandWords(name)
		b.Tools = append(b.Tools, Tool{Label: w.Heading, URL: name, Key: w.Key})
	}
	b.Tools[1].Label = "Downtime"
	b.Tools = append(b.Tools, Tool{Label: "More", Key: "m"})
	return b
}
