package output

import "strings"

// blank is what Nagios strips from both ends of the line and the performance
// data.
const blank = " \t\r\n"

// Parse splits a plugin's output. The first line is text and, behind its first
// "|", performance data. Further lines are text up to the first "|" among them;
// everything behind that is performance data, its lines joined by one blank.
// Semicolons of the first line's text become colons, because logs and the
// command file separate their fields with them. The state is left at zero.
func Parse(s string) Result {
	first, rest, _ := strings.Cut(s, "\n")
	short, perf, _ := strings.Cut(first, "|")
	long, more := rest, ""
	if bar := strings.IndexByte(rest, '|'); bar >= 0 {
		long, more = rest[:bar], rest[bar+1:]
	}
	return Result{
		Output:   strings.ReplaceAll(strings.Trim(short, blank), ";", ":"),
		Long:     strings.TrimRight(long, "\n"),
		Perfdata: strings.Trim(joinPerfdata(perf, more), blank),
	}
}

// joinPerfdata joins the performance data of the first line with that of the
// last lines. Without more than one piece it allocates nothing.
func joinPerfdata(first, more string) string {
	more = strings.TrimRight(more, "\n")
	if strings.IndexByte(more, '\n') >= 0 {
		more = strings.ReplaceAll(more, "\n", " ")
	}
	switch {
	case first == "":
		return more
	case more == "":
		return first
	}
	return first + " " + more
}
