package external

// Row describes one command for people.
type Row struct {
	Name        string
	Aliases     []string
	Form        string // the command with its arguments: "NAME;host;service"
	Only        string // the program that has it, "" = Nagios and all that came from it
	Text        string // what it does
	Unsupported string // why it is refused, "" if it is not
}

// Commands returns the table of commands, in the order of the reference.
func Commands() []Row {
	all := make([]Row, len(rows))
	for i, r := range rows {
		all[i] = Row{r.name, r.aliases, r.form(), r.only, r.text, r.why}
	}
	return all
}

// Arguments returns what may stand for each name in a Form, in a fixed order.
func Arguments() [][2]string {
	var all [][2]string
	seen := map[string]bool{}
	for _, a := range arguments {
		if a.text != "" && !seen[a.name+a.text] {
			seen[a.name+a.text] = true
			all = append(all, [2]string{a.name, a.text})
		}
	}
	return all
}
