package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	if needsComment(d.command()) && strings.TrimSpace(d.values.Get("comment")) == "" {
		d.wrong["comment"] = "Write why, for those who read it later."
		if d.command() == "add-comment" || d.command() == "notify" {
			d.wrong["comment"] = "Write a text."
		}
	}
	return out
}

// said returns an error of the API in words of the form.
func said(f *fault) string {
	if f.Field == "trigger" && f.Status == http.StatusNotFound {
		return "No object has a downtime with this id. The page of downtimes has them."
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
	t, err := time.ParseInLocation(wallClock, text, d.zone)
	if err != nil {
		if t, err = time.ParseInLocation(wallClock+":05", text, d.zone); err != nil {
			if _, err := time.Parse(time.RFC3339, text); err == nil {
				return text
			}
			d.wrong[name] = fmt.Sprintf("%q is no date and time; write them as in 2026-01-31T08:00.", text)
			return ""
		}
	}
	if back := t.Format(wallClock); back != text[:len(back)] {
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
		return
	}
	switch n := d.length("duration"); {
	case n > 0:
		out.Set("duration", seconds(n))
	case d.wrong["duration"] == "":
		d.wrong["duration"] = "Write how long, as in 2h, or an end."
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// length reads a length with units: days are allowed, a number alone is minutes.
func (d *draft) length(name string) time.Duration {
	text := strings.ReplaceAll(strings.ToLower(d.values.Get(name)), " ", "")
	if text == "" {
		return 0
	}
	var days time.Duration
	if n, rest, ok := strings.Cut(text, "d"); ok {
		count, err := strconv.ParseFloat(n, 64)
		if err != nil {
			rest = "wrong"
		}
		days, text = time.Duration(count*24*float64(time.Hour)), rest
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "m"
	}
	text = strings.NewReplacer("min", "m", "sec", "s").Replace(text)
	var rest time.Duration
	if text != "" {
		var err error
		if rest, err = time.ParseDuration(text); err != nil {
			d.wrong[name] = fmt.Sprintf("%q is no length; write it as in 45m, 2h, 1h30m or 3d.", d.values.Get(name))
			return 0
		}
	}
	if days+rest <= 0 {
		d.wrong[name] = "Write a length above 0, as in 2h."
		return 0
	}
	return days + rest
}

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
	out["ranges"] = ranges
	d.bound(out, "first", "start", 0)
	d.bound(out, "last", "end", 1)
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
