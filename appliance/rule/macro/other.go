package macro

import (
	"strings"
	"time"
)

// dateFields is the macros that tell the time by name.
var dateFields = map[string]func(*Source) string{
	"LONGDATETIME": func(s *Source) string { return s.now().Format("Mon Jan 2 15:04:05 MST 2006") },
	"SHORTDATETIME": func(s *Source) string {
		if s.Dates == StrictISO8601 {
			return s.now().Format("2006-01-02T15:04:05")
		}
		return s.now().Format(s.Dates.layout() + " 15:04:05")
	},
	"DATE":  func(s *Source) string { return s.now().Format(s.Dates.layout()) },
	"TIME":  func(s *Source) string { return s.now().Format("15:04:05") },
	"TIMET": func(s *Source) string { return epoch(s.Now) },
}

// layout returns the date of a format as the time package writes it.
func (f DateFormat) layout() string {
	switch f {
	case Euro:
		return "02-01-2006"
	case ISO8601, StrictISO8601:
		return "2006-01-02"
	}
	return "01-02-2006"
}

// now returns the present in the place where texts are read.
func (s *Source) now() time.Time {
	t := time.UnixMilli(int64(s.Now))
	if s.Location == nil {
		return t.UTC()
	}
	return t.In(s.Location)
}

// otherNames is every macro that only Source.Static can answer.
var otherNames = words(`NOTIFICATIONTYPE NOTIFICATIONRECIPIENTS NOTIFICATIONISESCALATED NOTIFICATIONAUTHOR
	NOTIFICATIONAUTHORNAME NOTIFICATIONAUTHORALIAS NOTIFICATIONCOMMENT NOTIFICATIONNUMBER
	MAINCONFIGFILE STATUSDATAFILE RETENTIONDATAFILE OBJECTCACHEFILE TEMPFILE TEMPPATH LOGFILE RESOURCEFILE
	COMMANDFILE HOSTPERFDATAFILE SERVICEPERFDATAFILE PROCESSSTARTTIME EVENTSTARTTIME ADMINEMAIL ADMINPAGER`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
