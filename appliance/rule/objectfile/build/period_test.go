package build_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
)

func TestPeriodsOfHostsAndServices(t *testing.T) {
	s := set(t, command+
		block("timeperiod", "timeperiod_name work; alias W; monday 09:00-17:00; exclude lunch")+
		block("timeperiod", "timeperiod_name lunch; alias L; monday 12:00-13:00")+
		block("host", "host_name h; check_period work; notification_period lunch; event_handler_period work")+
		block("service", "host_name h; service_description implied")+
		block("service", "host_name h; service_description own; notification_period work; check_period lunch")+
		block("service", "host_name h; service_description none; notification_period null"), "")
	work, lunch := s.Periods["work"], s.Periods["lunch"]
	if len(s.Periods) != 2 || work == nil || lunch == nil {
		t.Fatalf("periods %v", s.Periods)
	}
	if want := "work [UTC] monday 09:00-17:00; exclude (lunch [UTC] monday 12:00-13:00)"; work.String() != want {
		t.Errorf("got %s, want %s", work, want)
	}
	for id, want := range map[object.ID][3]object.Period{
		"h": {work, lunch, work}, "h!implied": {nil, lunch, nil}, "h!own": {lunch, work, nil}, "h!none": {nil, nil, nil},
	} {
		if r := s.Get(id).Rule; r.CheckPeriod != want[0] || r.NotePeriod != want[1] || r.HandlerPeriod != want[2] {
			t.Errorf("%s: %v, %v, %v", id, r.CheckPeriod, r.NotePeriod, r.HandlerPeriod)
		}
	}
	at := func(hour int) object.Time { return object.At(time.Date(2026, 6, 1, hour, 30, 0, 0, time.UTC)) }
	if !object.Inside(work, at(11)) || object.Inside(work, at(12)) {
		t.Error("the exclusion is not one")
	}
}

// The last line of a weekday counts, and a template gives the days that are
// missing.
func TestDaysOfPeriods(t *testing.T) {
	s := set(t, block("timeperiod", "name t; register 0; alias T; monday 01:00-02:00; tuesday 01:00-02:00")+
		block("timeperiod", "timeperiod_name p; use t; monday 03:00-04:00; monday 05:00-06:00"), "")
	from := object.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	var changes []string
	for range 4 {
		_, from = s.Periods["p"].Window(from)
		changes = append(changes, from.Std().Format("Mon 15:04"))
	}
	if got := strings.Join(changes, ", "); got != "Mon 05:00, Mon 06:00, Tue 01:00, Tue 02:00" {
		t.Error(got)
	}
}

func TestPeriodsAreInTheZoneOfTheCaller(t *testing.T) {
	main, _ := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: "use_timezone=:Europe/Berlin\n"})
	if got := build.ZoneName(main); got != "Europe/Berlin" {
		t.Errorf("zone %q", got)
	}
	objects, _ := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: block("timeperiod", "timeperiod_name p; alias P; monday 09:00-17:00")})
	s, problems := build.BuildIn(time.FixedZone("east", 3600), objects, main)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if _, until := s.Periods["p"].Window(object.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))); until.Std().Hour() != 8 {
		t.Errorf("begins at %s", until.Std())
	}
}

func TestProblemsOfPeriods(t *testing.T) {
	_, problems := read(block("timeperiod", "timeperiod_name a; alias A; exclude b; monday 00:00-25:00; Tuesday 01:00-02:00")+
		block("timeperiod", "timeperiod_name b; alias B; exclude c,gone")+block("timeperiod", "timeperiod_name c; alias C; exclude b")+
		block("timeperiod", "timeperiod_name d; exclude nix")+block("timeperiod", "timeperiod_name d; alias D")+
		block("host", "host_name h; check_period work; notification_period a"), "")
	want := []string{
		`objects.cfg:22: timeperiod "d" is already defined at objects.cfg:18; rename one of them`,
		`objects.cfg:11: timeperiod "b" is part of a loop: b excludes c excludes b; remove one of these exclusions`,
		`objects.cfg:11: there is no timeperiod "gone"; define it or remove it from exclude`,
		`objects.cfg:5: timeperiod "a": "00:00-25:00" is no span of times; write for example 09:00-17:00,18:00-24:00 without blanks`,
		`objects.cfg:6: timeperiod "a": "Tuesday" is not a day; did you mean "tuesday"?`,
		`objects.cfg:18: timeperiod "d" has no alias; give it one`,
		`objects.cfg:20: there is no timeperiod "nix"; define it or remove it from exclude`,
		`objects.cfg:28: there is no timeperiod "work"; define it or remove it from check_period`,
	}
	if got := problems.Error(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
