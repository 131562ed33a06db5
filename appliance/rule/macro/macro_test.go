package macro_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/expand"
	"jaque.sh/jaque/appliance/rule/macro"
	"pgregory.net/rapid"
)

// shop is a source with two hosts, some services and something in every field.
func shop() *macro.Source {
	web := &object.Object{
		ID: "web", Name: "web", Alias: "Web & Co", Address: "192.0.2.1", Groups: []string{"all", "linux"},
		Vars: map[string]string{"OS": "Linux"},
		Rule: &object.Rule{
			Attempts: 3, Notes: "see $HOSTNAME$ ($HOSTNOTES$)", NotesURL: "http://wiki/?h=$HOSTALIAS$", ActionURL: "http://x/",
		},
	}
	db := &object.Object{ID: "db", Name: "db", Rule: &object.Rule{Attempts: 1}}
	http := &object.Object{
		ID: "web!http", Name: "http", Host: web, Vars: map[string]string{"PORT": "80"},
		Rule: &object.Rule{Attempts: 4, Volatile: true},
	}
	ssh := &object.Object{ID: "web!ssh", Name: "ssh", Host: web, Rule: &object.Rule{Attempts: 1}}
	set := object.NewSet("", object.DefaultSettings(), []*object.Object{web, db, http, ssh})
	state := fold.State{
		Status: event.Status{
			State: object.Critical, Type: object.Soft, Checked: true, Attempt: 2, MaxAttempts: 4, LastChange: 1_000_000,
			Problem: 1_000_000, DowntimeDepth: 1, NotificationNumber: 7, Off: object.SwitchNotifications,
			Extra: &event.Extra{AckAuthor: "ops", AckText: "I'm on it"},
		},
		Measure: event.Measure{
			LastCheck: 1_000_000, Latency: 1_500, Took: 2_345_678, Passive: true, Ring: 2,
			Output: "it's down", Long: "a\\b\nc\td", Perfdata: "'x'=1", LastIn: [4]object.Time{900_000, 950_000, 1_000_000, 0},
		},
	}
	groups := map[string]*macro.Group{
		"all": {Name: "all", Alias: "Everything", NotesURL: "http://g/$HOSTGROUPALIAS$", Members: []*object.Object{db, web}},
	}
	ops := &macro.Contact{Name: "ops", Alias: "Operators", Email: "ops@example.com", Groups: []string{"team"}, Vars: map[string]string{"SHIFT": "day"}}
	ops.Addresses[1] = "two"
	return &macro.Source{
		Object: http, Find: set.Get,
		State: func(id object.ID) *fold.State {
			if id == http.ID {
				return &state
			}
			return nil
		},
		HostGroup: func(name string) *macro.Group { return groups[name] },
		ServiceGroup: func(name string) *macro.Group {
			if name != "sg" {
				return nil
			}
			return &macro.Group{Name: "sg", Members: []*object.Object{http, ssh}}
		},
		Contact: ops,
		FindContact: func(name string) *macro.Contact {
			if name == "ops" {
				return ops
			}
			return nil
		},
		ContactGroup: func(string) *macro.ContactGroup {
			return &macro.ContactGroup{Name: "team", Members: []string{"ops", "gone", "ops"}}
		},
		User: func(n int) string { return map[int]string{1: "/lib", 256: "last"}[n] }, Args: []string{"one", "$HOSTNAME$"},
		Static: map[string]string{"NOTIFICATIONTYPE": "PROBLEM"}, Declared: func(o *object.Object, directive string) string {
			return map[string]string{
				"http check_command": "check_http!x", "http importance": "5", "web importance": "7", "ssh notifications_enabled": "0",
				"http display_name": "The shop", "web notification_period": "24x7",
			}[o.Name+" "+directive]
		},
		Now: 1_000_000 + 1000*(86400+3600+60+1), Started: 500_000,
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"no macro", "no macro"},
		{"$HOSTNAME$/$SERVICEDESC$ at $HOSTADDRESS$", "web/http at 192.0.2.1"},
		{"$HOSTALIAS$ $HOSTDISPLAYNAME$ $SERVICEDISPLAYNAME$", "Web & Co web The shop"},
		{"$SERVICESTATE$ $SERVICESTATEID$ $SERVICESTATETYPE$ $SERVICEATTEMPT$/$MAXSERVICEATTEMPTS$", "CRITICAL 2 SOFT 2/4"},
		{"$LASTSERVICESTATE$ $LASTSERVICESTATEID$ $LASTHOSTSTATE$", "WARNING 1 UP"},
		{"$SERVICELATENCY$ $SERVICEEXECUTIONTIME$ $SERVICEPERCENTCHANGE$ $SERVICEDOWNTIME$", "0.002 2.346 6.25 1"},
		{"$SERVICEDURATION$ $SERVICEDURATIONSEC$", "1d 1h 1m 1s 90061"},
		{"$HOSTDURATIONSEC$ $LASTHOSTCHECK$ $HOSTCHECKTYPE$", "90561 0 ACTIVE"},
		{"$LASTSERVICECHECK$ $LASTSERVICESTATECHANGE$ $LASTSERVICEOK$ $LASTSERVICEUNKNOWN$", "1000 1000 900 0"},
		{"[$SERVICEOUTPUT$] [$LONGSERVICEOUTPUT$] [$SERVICEPERFDATA$] $SERVICECHECKTYPE$", `[it's down] [a\\b\nc` + "\t" + `d] ['x'=1] PASSIVE`},
		{"$SERVICEACKAUTHOR$ $SERVICEACKAUTHORALIAS$: $SERVICEACKCOMMENT$", "ops Operators: I'm on it"},
		{"$SERVICEISVOLATILE$ $SERVICENOTIFICATIONNUMBER$ $SERVICENOTIFICATIONENABLED$ $HOSTNOTIFICATIONENABLED$", "1 7 0 1"},
		{"$SERVICECHECKCOMMAND$ $SERVICEPROBLEMID$ $HOSTPROBLEMID$", "check_http!x 1000000 0"},
		{"$SERVICEIMPORTANCE$ $HOSTANDSERVICESIMPORTANCE$ $SERVICENOTIFICATIONENABLED::ssh$ $HOSTNOTIFICATIONPERIOD$", "5 12 0 24x7"},
		{"$HOSTNOTES$|$HOSTNOTESURL$|$HOSTACTIONURL$|$SERVICENOTES$", "see web (see $HOSTNAME$ ($HOSTNOTES$))|http://wiki/?h=Web%20%26%20Co|http://x/|"},
		{"$TOTALHOSTSERVICES$ $TOTALHOSTSERVICESOK$ $TOTALHOSTSERVICESCRITICAL$", "2 1 1"},
		{"$HOSTGROUPNAME$ $HOSTGROUPNAMES$ $HOSTGROUPALIAS$ $HOSTGROUPMEMBERS$", "all all,linux Everything db,web"},
		{"$HOSTGROUPALIAS:all$ [$HOSTGROUPALIAS:none$] $HOSTGROUPMEMBERADDRESSES:all$ $HOSTGROUPNOTESURL$", "Everything [] db,192.0.2.1 http://g/Everything"},
		{"[$SERVICEGROUPNAME$] $SERVICEGROUPMEMBERS:sg$", "[] web,http,web,ssh"},
		{"$HOSTADDRESS:web$ $HOSTSTATEID:none$ [$HOSTSTATE:none$] $SERVICESTATEID:web:none$ [$SERVICESTATE:web:none$]", "192.0.2.1 2 [] 3 []"},
		{"$SERVICESTATE:web:http$ $SERVICESTATE::ssh$ $SERVICEDESC:web:ssh$", "CRITICAL OK ssh"},
		{"$HOSTSTATEID:all:, $ $SERVICESTATEID:sg:/$", "0, 0 2/0"},
		{"$_HOSTOS$ $_SERVICEPORT$ $_CONTACTSHIFT$ [$_HOSTMISSING$] $_HOSTOS:web$ $_SERVICEPORT:web:http$", "Linux 80 day [] Linux 80"},
		{"$_HOSTOS:all:+$ $_OTHER$", "+Linux $_OTHER$"},
		{"$CONTACTNAME$ $CONTACTALIAS$ $CONTACTEMAIL$ $CONTACTADDRESS2$ [$CONTACTPAGER$] $CONTACTADDRESS7$", "ops Operators ops@example.com two [] $CONTACTADDRESS7$"},
		{"$CONTACTEMAIL:ops$ $CONTACTEMAIL:team:;$ [$CONTACTEMAIL:none$]", "ops@example.com ops@example.com;ops@example.com []"},
		{"$CONTACTGROUPNAME$ $CONTACTGROUPNAMES$ $CONTACTGROUPALIAS:team$ $CONTACTGROUPMEMBERS$", "team team team ops,gone,ops"},
		{"$USER1$ [$USER2$] $USER256$ $USER257$ $USER0$ $USERX$", "/lib [] last $USER257$ $USER0$ $USERX$"},
		{"$ARG1$ $ARG2$ [$ARG32$] $ARG33$ $ARG0$", "one $HOSTNAME$ [] $ARG33$ $ARG0$"},
		{"$NOTIFICATIONTYPE$ [$MAINCONFIGFILE$]", "PROBLEM []"},
		{"$TIMET$ $DATE$ $TIME$ $SHORTDATETIME$ $LONGDATETIME$", "91061 01-02-1970 01:17:41 01-02-1970 01:17:41 Fri Jan 2 01:17:41 UTC 1970"},
		{"$hostname$ $HOSTNAME $", "$hostname$ $HOSTNAME $"},
		{"$", "$"},
		{"$$", "$"},
		{"a$b", "a$b"},
		{"$HOSTNAME", "$HOSTNAME"},
		{"$$$", "$$"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := macro.Expand(c.in, shop(), macro.Options{}); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestOutsideTheirContextMacrosAreEmpty(t *testing.T) {
	src := shop()
	src.Object = src.Object.Host
	if got := macro.Expand("$HOSTNAME$ [$SERVICEDESC$] [$_SERVICEPORT$] $SERVICEDESC::http$", src, macro.Options{}); got != "web [] [] http" {
		t.Errorf("for a host: %q", got)
	}
	if got := macro.Expand("[$HOSTNAME$] [$HOSTSTATEID$] [$USER1$] [$CONTACTNAME$] [$HOSTNAME:x$] [$CONTACTNAME:x:y$] [$HOSTGROUPNAME$]",
		&macro.Source{}, macro.Options{}); got != "[] [] [] [] [] [] []" {
		t.Errorf("for nothing: %q", got)
	}
}

func TestCleaningTakesOutOnlyWhatOthersWrote(t *testing.T) {
	text := "$HOSTALIAS$ $SERVICEOUTPUT$ $LONGSERVICEOUTPUT$ $SERVICEPERFDATA$ $SERVICEACKCOMMENT$ $ARG1$"
	want := `Web & Co its down a\\b\ncd x=1 Im on it one`
	if got := macro.Expand(text, shop(), macro.Options{Clean: true, Illegal: illegal}); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDateFormats(t *testing.T) {
	for format, want := range map[macro.DateFormat]string{
		macro.US: "01-02-1970 01-02-1970 01:17:41", macro.Euro: "02-01-1970 02-01-1970 01:17:41",
		macro.ISO8601: "1970-01-02 1970-01-02 01:17:41", macro.StrictISO8601: "1970-01-02 1970-01-02T01:17:41",
	} {
		src := shop()
		src.Dates = format
		if got := macro.Expand("$DATE$ $SHORTDATETIME$", src, macro.Options{}); got != want {
			t.Errorf("%d: got %q, want %q", format, got, want)
		}
	}
}

func TestTheLastStateIsThePresentOneAfterAnotherResult(t *testing.T) {
	src := shop()
	src.State("web!http").Measure.LastCheck++
	if got := macro.Expand("$LASTSERVICESTATE$", src, macro.Options{}); got != "CRITICAL" {
		t.Error(got)
	}
}

func TestAChecksTextsAreExpanded(t *testing.T) {
	src := shop()
	c := object.Check{
		Kind:   object.CheckPlugin,
		Plugin: []string{"$USER1$/check", "-a", "$HOSTALIAS$ x", "plain"},
		HTTP:   &object.HTTPCheck{URL: "http://$HOSTADDRESS$/", Warn: "$_SERVICEPORT$"},
	}
	got := expand.Check(&c, func(s string) string { return macro.Expand(s, src, macro.Options{}) })
	if !reflect.DeepEqual(got.Plugin, []string{"/lib/check", "-a", "Web & Co x", "plain"}) {
		t.Errorf("plugin: %q", got.Plugin)
	}
	if got.HTTP.URL != "http://192.0.2.1/" || got.HTTP.Warn != "80" {
		t.Errorf("http: %+v", got.HTTP)
	}
}

func TestATextWithoutMacrosCostsNothing(t *testing.T) {
	src := shop()
	if n := testing.AllocsPerRun(100, func() {
		macro.Expand("a plain text", src, macro.Options{})
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestEscapedTextComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("$AHOST$:é ")), 0, 20, -1).Draw(t, "text")
		if got := macro.Expand(strings.ReplaceAll(s, "$", "$$"), shop(), macro.Options{}); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"$HOSTNAME$", "$$a$b$$", "$SERVICESTATE:web:http$", "$_HOSTOS:all:,$", "$HOSTNOTESURL$ $ARG1$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := macro.Expand(s, shop(), macro.Options{Clean: true, Illegal: illegal})
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", s, got)
		}
		if strings.Count(s, "$") < 2 && got != s {
			t.Errorf("%q became %q without a macro", s, got)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	src := shop()
	b.ReportAllocs()
	for b.Loop() {
		macro.Expand("$USER1$/check_http -H $HOSTADDRESS$ -p $_SERVICEPORT$ -s $SERVICESTATEID$", src, macro.Options{})
	}
}

func TestAnOperatorsOwnMacroIsAnsweredAndNotScannedAgain(t *testing.T) {
	src := &macro.Source{Static: map[string]string{"SITE": "north $HOSTNAME$"}}
	if got, want := macro.Expand("at $SITE$, $SITES$", src, macro.Options{}), "at north $HOSTNAME$, $SITES$"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
