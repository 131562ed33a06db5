package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// wallClock is how an input for date and time writes its value.
const wallClock = "2006-01-02T15:04"

// weekdays in the order of a form.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// nameless are the commands that need no name beside them.
var nameless = []string{"check-now", "submit-result"}

// canonical returns what was filled in as the API would be told. What is wrong
// goes to the draft, field by field, so that all of it is said at once.
func (d *draft) canonical() url.Values {
	out := url.Values{}
	for name, values := range d.values {
		if slices.ContainsFunc(requestFields, func(f field) bool { return f.name == name }) {
			out[name] = slices.Clone(values)
		}
	}
	d.aim(out)
	if d.values.Get("author") == "" && !slices.Contains(nameless, d.command()) {
		d.wrong["author"] = "Write your name, so that others know whom to ask."
	}
	if d.values.Get("author") == "" {
		out.Set("author", "dashboard")
	}
	for _, name := range []string{"expires", "at", "start", "end"} {
		if text := d.values.Get(name); text != "" {
			out.Set(name, d.instant(name, text))
			if t, err := time.Parse(time.RFC3339, out.Get(name)); err == nil {
				d.ahead(name, t)
			}
		}
	}
	if d.command() == "schedule-downtime" {
		d.downtime(out)
	} else {
		out.Del("timezone")
	}
	if turns := d.command() == "enable" || d.command() == "disable"; turns && len(nonEmpty(d.values["what"])) == 0 {
		d.wrong["what"] = "Choose at least one."
	}
	if name := d.values.Get("setting"); d.command() == "set" && (name == event.SettingInterval || name == event.SettingRetry) {
		if _, given := out["value"]; given {
			out.Set("value", asDuration(out.Get("value")))
		}
	}
	if d.command() == "submit-result" {
		d.resulted()
	}
	if needsComment(d.command()) && strings.TrimSpace(d.values.Get("comment")) == "" {
		d.wrong["comment"] = "Write why, for those who read it later."
		if d.command() == "add-comment" || d.command() == "notify" {
			d.wrong["comment"] = "Write a text."
		}
	}
	return out
}

// resulted looks at a result: nothing of it is taken for granted.
func (d *draft) resulted() {
	if d.values.Get("state") == "" {
		d.wrong["state"] = "Choose the state."
	}
	if strings.TrimSpace(d.values.Get("output")) == "" {
		d.wrong["output"] = "Write what was found, on one line: it stands beside the state."
	}
}

// said returns an error of the API in words of the form.
func said(f *fault) string {
	switch {
	case f.Field == "trigger" && f.Status == http.StatusNotFound:
		return "No object has a downtime with this id. The page of downtimes has them."
	case strings.Contains(f.Detail, "no downtime of the target fits"):
		return "What you chose has no downtime. The page of downtimes has them all."
	case f.Field == "kind" && strings.HasPrefix(f.Detail, "kind is missing"):
		return "Choose hosts or services, because their states differ."
	case f.Field == "scope" && strings.HasPrefix(f.Detail, "a recurring downtime takes"):
		return "A downtime that happens again and again cannot reach so far around hosts that a filter finds or that are behind others. Choose the hosts alone, or the services of hosts that you name."
	case f.Field == "ranges" && strings.Contains(f.Detail, "between start and end"):
		return "None of these times begins between the first and the last day. Write another time or a later last day."
	case f.Field == "objects" && strings.HasSuffix(f.Detail, "send two commands"):
		return "Hosts and services have different states. Choose those of one kind."
	}
	return sentence(f.Detail)
}

// needsComment tells whether a command says nothing without a text.
func needsComment(command string) bool {
	return slices.Contains([]string{"acknowledge", "schedule-downtime", "add-comment", "notify"}, command)
}

// aim keeps of the target what was chosen: a form that asks for it has a field
// for each way to name objects.
func (d *draft) aim(out url.Values) {
	if way := d.values.Get("target"); way != "" {
		for _, name := range []string{"object", "group", "filter"} {
			if name != way {
				out.Del(name)
			} else if strings.TrimSpace(d.values.Get(name)) == "" {
				d.wrong[name] = "Write which " + map[string]string{"object": "host or service", "group": "group", "filter": "filter; * is everything"}[name] + "."
			}
		}
		if way == "object" {
			out.Del("kind")
		} else {
			out.Del("scope")
		}
	}
	if ids := nonEmpty(out["object"]); len(ids) > 1 {
		out.Del("object")
		out["objects"] = ids
		out.Del("kind")
		out.Del("filter") // rows were chosen beside it
	} else if len(ids) == 1 {
		out.Del("kind")
		out.Del("filter")
	}
	if out.Get("scope") != "" && out.Get("group")+out.Get("filter") != "" {
		out.Set("kind", "host")
	}
}

func nonEmpty(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
}

// objects returns the objects that the form names.
func (d *draft) objects() []object.ID {
	var out []object.ID
	for _, id := range nonEmpty(d.values["object"]) {
		out = append(out, object.ID(id))
	}
	return out
}

// instant reads date and time of the wall clock in the zone of the form. A time
// that the clocks leave out is refused: nobody can have meant it.
func (d *draft) instant(name, text string) string {
	layout := wallClock
	meant, err := time.Parse(layout, text)
	if err != nil {
		layout += ":05"
		if meant, err = time.Parse(layout, text); err != nil {
			if _, err := time.Parse(time.RFC3339, text); err == nil {
				return text
			}
			d.wrong[name] = fmt.Sprintf("%q is no date and time; write them as in 2026-01-31T08:00.", text)
			return ""
		}
	}
	t, _ := time.ParseInLocation(layout, text, d.zone) // it reads everywhere as it does in UTC
	if back := t.Format(wallClock); back != meant.Format(wallClock) {
		d.wrong[name] = fmt.Sprintf("%s does not exist in %s: the clocks leave it out that night. Write %s.", strings.Replace(text, "T", " ", 1), d.zone, strings.Replace(back, "T", " ", 1))
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// downtime reads the fields that only a downtime has.
func (d *draft) downtime(out url.Values) {
	out.Del("duration")
	out.Del("ranges")
	if d.values.Get("begins") != "flexible" {
		out.Del("flexible")
	} else if d.values.Get("flexible") == "" {
		d.wrong["flexible"] = "Write how long it lasts once the problem starts, as in 30m."
	} else if n := d.length("flexible"); n > 0 {
		out.Set("flexible", seconds(n))
	}
	if d.values.Get("repeat") == "weekly" {
		d.recurring(out)
		return
	}
	out.Del("timezone")
	if d.values.Get("end") != "" {
		d.span(out.Get("start"), out.Get("end"))
		return
	}
	switch n := d.length("duration"); {
	case n > 0:
		out.Set("duration", seconds(n))
		if t, err := time.Parse(time.RFC3339, out.Get("start")); err == nil && !t.Add(n).After(d.now) {
			d.wrong["duration"] = "It would be over already, since " + d.clock(t.Add(n)) + ". Write a later beginning or a longer time."
		}
	case d.wrong["duration"] == "":
		d.wrong["duration"] = "Write how long, as in 2h, or an end."
	}
}

// span looks at the end of a downtime in the words of the form.
func (d *draft) span(start, end string) {
	to, err := time.Parse(time.RFC3339, end)
	if err != nil || d.wrong["end"] != "" {
		return
	}
	if from, err := time.Parse(time.RFC3339, start); err == nil && !to.After(from) {
		d.wrong["end"] = d.clock(to) + " is not after the beginning, " + d.clock(from) + ". Write a later end, or swap them."
		return
	}
	if !to.After(d.now) {
		d.wrong["end"] = d.clock(to) + " has passed. Write a later end."
	}
}

// clock writes an instant as the clocks of the form show it.
func (d *draft) clock(t time.Time) string {
	return t.In(d.zone).Format("2006-01-02 15:04") + " " + d.zone.String()
}

// ahead looks at an instant that was filled in.
func (d *draft) ahead(name string, t time.Time) {
	switch {
	case d.wrong[name] != "":
	case t.Sub(d.now) > farthest:
		d.wrong[name] = d.clock(t) + " is more than 20 years ahead. Write an earlier time."
	case t.UnixMilli() <= 0:
		d.wrong[name] = d.clock(t) + " is too long ago. Write a later time."
	case name == "expires" && !t.After(d.now):
		d.wrong[name] = d.clock(t) + " has passed. Write a time that comes."
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// recurring reads days, clock times and bounds of a recurring downtime.
func (d *draft) recurring(out url.Values) {
	out.Set("timezone", d.zone.String())
	for _, name := range []string{"start", "end"} {
		out.Del(name)
		delete(d.wrong, name)
	}
	ranges := nonEmpty(strings.Split(strings.ReplaceAll(d.values.Get("other"), "\r", ""), "\n"))
	days := nonEmpty(d.values["day"])
	switch {
	case len(days) == 0 && len(ranges) == 0:
		d.wrong["day"] = "Choose at least one day."
	case len(days) > 0:
		for _, day := range days {
			ranges = append(ranges, d.spans(day)...)
		}
	}
	if len(ranges) == 0 {
		ranges = []string{"monday 00:00-24:00"} // stands in, so that what else is wrong can be told
	}
	out["ranges"] = ranges
	d.bound(out, "first", "start", 0)
	d.bound(out, "last", "end", 1)
	first, _ := time.Parse(time.RFC3339, out.Get("start")) // the beginning of time if there is none
	last, err := time.Parse(time.RFC3339, out.Get("end"))
	switch {
	case err != nil || d.wrong["last"] != "":
	case !last.After(first):
		d.wrong["last"] = "The last day is before the first day."
	case !last.After(d.now):
		d.wrong["last"] = "The last day has passed. Write a later one."
	}
}

// bound reads a day as the instant at which it begins, or the one after it.
func (d *draft) bound(out url.Values, name, field string, days int) {
	text := d.values.Get(name)
	if text == "" {
		return
	}
	t, err := time.ParseInLocation(time.DateOnly, text, d.zone)
	if err != nil {
		d.wrong[name] = fmt.Sprintf("%q is no date; write it as in 2026-01-31.", text)
		return
	}
	out.Set(field, t.AddDate(0, 0, days).UTC().Format(time.RFC3339))
}

// spans returns a day with its clock times as periods write it; a night goes on
// into the next day.
func (d *draft) spans(day string) []string {
	n := slices.Index(weekdays, day)
	if n < 0 {
		d.wrong["day"] = fmt.Sprintf("no day is called %q.", day)
		return nil
	}
	from, to := d.values.Get("from"), d.values.Get("to")
	for name, text := range map[string]string{"from": from, "to": to} {
		if _, err := time.Parse("15:04", text); err != nil && (name != "to" || text != "24:00") {
			d.wrong[name] = "Write a time of day, as in 02:00."
		}
	}
	switch {
	case d.wrong["from"] != "" || d.wrong["to"] != "":
		return nil
	case from == to:
		d.wrong["to"] = "It ends when it begins; write another time."
		return nil
	case from < to:
		return []string{day + " " + from + "-" + to}
	case to == "00:00":
		return []string{day + " " + from + "-24:00"}
	}
	return []string{day + " " + from + "-24:00", weekdays[(n+1)%7] + " 00:00-" + to}
}

// shownAs returns the field of the form that a field of the API was filled in
// with.
func (d *draft) shownAs(name string) string {
	weekly := d.values.Get("repeat") == "weekly"
	switch {
	case name == "ranges" && len(d.values["day"]) > 0:
		return "day"
	case name == "ranges":
		return "other"
	case name == "start" && weekly:
		return "first"
	case name == "end" && weekly:
		return "last"
	case name == "end" && d.values.Get("end") == "":
		return "duration"
	case name == "objects":
		return "object"
	}
	return name
}
