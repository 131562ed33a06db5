package macro_test

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
)

// shopConfig is a configuration as Nagios reads it, with something to ask for
// in every kind of object.
const shopConfig = `
define timeperiod {
  timeperiod_name 24x7
  alias           always
  monday          00:00-24:00
}
define command {
  command_name chk
  command_line $USER1$/chk -H $HOSTADDRESS$ -a "$ARG1$" -b '$ARG2$' -c $ARG3$
}
define command {
  command_name notify
  command_line /bin/true
}
define contact {
  contact_name                  ops
  alias                         Ops & Co
  email                         ops@example.com
  pager                         +49 555
  address1                      irc:ops
  address6                      last
  _SHIFT                        night
  host_notification_commands    notify
  service_notification_commands notify
  host_notification_period      24x7
  service_notification_period   24x7
}
define contactgroup {
  contactgroup_name team
  alias             The Team
  members           ops
}
define hostgroup {
  hostgroup_name front
  alias          Front Row
  notes          row of $HOSTGROUPALIAS$
  notes_url      http://g/?g=$HOSTGROUPALIAS$
  action_url     http://a/$HOSTGROUPNAME$
  members        db,web
}
define servicegroup {
  servicegroup_name paths
  alias             Paths
  members           web,HTTP,db,SQL x
}
define host {
  use                   base
  host_name             web
  alias                 Web <1>
  display_name          The web
  address               192.0.2.10
  _OS                   Linux
  _snmp_Community       pub lic
  _EMPTY
  notes                 on $HOSTADDRESS$, $$5
  notes_url             http://w/?h=$HOSTALIAS$&s=$SERVICEDESC$
  action_url            http://a/$_HOSTSNMP_COMMUNITY$/$USER2$
}
define host {
  name                  base
  register              0
  check_command         chk
  max_check_attempts    3
  check_interval        5
  retry_interval        1
  contacts              ops
  notification_period   24x7
  notification_interval 60
}
define host {
  use       base
  host_name db
  address   192.0.2.77
  parents   web
}
define service {
  name                  sbase
  register              0
  max_check_attempts    4
  check_interval        5
  retry_interval        1
  check_period          24x7
  contacts              ops
  notification_period   24x7
  notification_interval 60
}
define service {
  use                 sbase
  host_name           web
  service_description HTTP
  check_command       chk!80!/a b!$_SERVICEPORT$
  is_volatile         1
  _Port               8080
  notes_url           http://w/$SERVICEDESC$?o=$SERVICEOUTPUT$
}
define service {
  use                 sbase
  host_name           web
  service_description Load
  check_command       chk!hi\!there!a\;b;a comment
}
define service {
  use                 sbase
  host_name           db
  service_description SQL x
  check_command       chk!pa$$s!$HOSTNAME$!$ARG1$
}
`

const shopResource = "# secrets\n$USER1$=/lib\n$USER2$=s3 cret&\n"

// TestMacrosOfAConfiguration plays results into shopConfig and asks for
// everything that depends on them.
func TestMacrosOfAConfiguration(t *testing.T) {
	steps := []step{
		{At: 0, Host: "web", RC: 0, Output: "PING OK|rta=1ms", Kind: "active"},
		{At: 5, Host: "db", RC: 2, Output: "no route `now` | 'a b'=1", Kind: "active"},
		{At: 10, Service: "web/HTTP", RC: 1, Output: "slow; \"very\" <b>|'t $x'=5s\nsee C:\\tmp\nrow & 2", Kind: "active"},
		{At: 70, Service: "web/HTTP", RC: 2, Output: "dead", Kind: "passive"},
		{At: 130, Service: "web/HTTP", RC: 2, Output: "it's ~dead~ | x=1", Kind: "active"},
	}
	for _, c := range []struct {
		name, host, service, text, want string
		steps                           int // how many were played before
		contact                         string
		clean                           bool
	}{
		{name: "names in every case", host: "web", text: "$HOSTNAME$ $HOSTALIAS$ $HOSTDISPLAYNAME$ $HOSTADDRESS$", want: "web Web <1> The web 192.0.2.10"},
		{name: "without an alias the name", host: "db", text: "$HOSTALIAS$/$HOSTDISPLAYNAME$", want: "db/db"},
		{name: "never checked", host: "web", service: "HTTP", text: "$HOSTSTATE$ $SERVICESTATE$ $SERVICEATTEMPT$ $SERVICESTATETYPE$ [$SERVICEOUTPUT$] $LASTSERVICECHECK$", want: "UP OK 1 HARD [] 0"},
		{name: "the state before is OK after the first problem", host: "web", service: "HTTP", steps: 3, text: "$LASTSERVICESTATE$ $SERVICESTATE$", want: "OK WARNING"},
		{name: "the state before another problem", host: "web", service: "HTTP", steps: 4, text: "$LASTSERVICESTATE$>$SERVICESTATE$ $SERVICEATTEMPT$/$MAXSERVICEATTEMPTS$ $SERVICECHECKTYPE$", want: "WARNING>CRITICAL 2/4 PASSIVE"},
		{name: "the state before the same one", host: "web", service: "HTTP", steps: 5, text: "$LASTSERVICESTATEID$>$SERVICESTATEID$ $SERVICESTATETYPE$ $SERVICECHECKTYPE$", want: "2>2 SOFT ACTIVE"},
		{name: "seconds since the change, not since the check", host: "web", service: "HTTP", steps: 5, text: "$SERVICEDURATIONSEC$ $SERVICEDURATION$", want: "60 0d 0h 1m 0s"},
		{name: "a host down", host: "db", steps: 2, text: "$HOSTSTATE$ $HOSTSTATEID$ $HOSTSTATETYPE$ $HOSTATTEMPT$/$MAXHOSTATTEMPTS$ $LASTHOSTSTATE$", want: "DOWN 1 SOFT 1/3 UP"},
		{name: "when it was last in a state", host: "db", steps: 2, text: "$LASTHOSTUP$ $LASTHOSTDOWN$ $LASTHOSTUNREACHABLE$", want: "0 1779962405 0"},
		{name: "output, further lines and performance data", host: "web", service: "HTTP", steps: 3, text: "[$SERVICEOUTPUT$] [$LONGSERVICEOUTPUT$] [$SERVICEPERFDATA$]", want: `[slow: "very" <b>] [see C:\\tmp\nrow & 2] ['t $x'=5s]`},
		{name: "cleaned of every illegal character", host: "web", service: "HTTP", steps: 3, clean: true, text: "[$SERVICEOUTPUT$] [$LONGSERVICEOUTPUT$] [$SERVICEPERFDATA$]", want: `[slow: very b] [see C:\\tmp\nrow  2] [t x=5s]`},
		{name: "quotes and tildes are illegal too", host: "web", service: "HTTP", steps: 5, clean: true, text: "$SERVICEOUTPUT$", want: "its dead"},
		{name: "the host's output is cleaned on demand as well", host: "web", steps: 2, clean: true, text: "$HOSTOUTPUT:db$ $HOSTPERFDATA:db$", want: "no route now a b=1"},
		{name: "what the configuration says stays", host: "web", service: "HTTP", clean: true, text: "$HOSTALIAS$ $USER2$ $_HOSTSNMP_COMMUNITY$ $HOSTNOTES$", want: "Web <1> s3 cret& pub lic on 192.0.2.10, $5"},

		{name: "variables in any case are asked for in capitals", host: "web", service: "HTTP", text: "$_HOSTSNMP_COMMUNITY$ $_HOSTOS$ $_SERVICEPORT$ $_HOSTsnmp_Community$", want: "pub lic Linux 8080 "},
		{name: "a variable without a value", host: "web", text: "[$_HOSTEMPTY$]", want: "[]"},
		{name: "variables of others", host: "db", text: "$_HOSTOS:web$ $_SERVICEPORT:web:HTTP$ $_CONTACTSHIFT:ops$", want: "Linux 8080 night"},
		{name: "variables of the contact", host: "web", contact: "ops", text: "$_CONTACTSHIFT$ [$_CONTACTNONE$]", want: "night []"},
		{name: "no contact", host: "web", text: "[$_CONTACTSHIFT$] [$CONTACTNAME$]", want: "[] []"},
		{name: "every field of a contact", host: "web", contact: "ops", text: "$CONTACTNAME$|$CONTACTALIAS$|$CONTACTEMAIL$|$CONTACTPAGER$|$CONTACTADDRESS1$|$CONTACTADDRESS2$|$CONTACTADDRESS6$", want: "ops|Ops & Co|ops@example.com|+49 555|irc:ops||last"},
		{name: "groups of contacts", host: "web", contact: "ops", text: "$CONTACTGROUPNAME$ $CONTACTGROUPALIAS$ $CONTACTGROUPNAMES$ $CONTACTGROUPMEMBERS:team$ $CONTACTEMAIL:team:,$", want: "team The Team team ops ops@example.com"},

		{name: "a group's macros", host: "web", text: "$HOSTGROUPNAME$ $HOSTGROUPNAMES$ $HOSTGROUPALIAS$ $HOSTGROUPMEMBERS$ $HOSTGROUPMEMBERADDRESSES$", want: "front front Front Row db,web 192.0.2.77,192.0.2.10"},
		{name: "notes of a group", host: "web", text: "$HOSTGROUPNOTES$ $HOSTGROUPNOTESURL$ $HOSTGROUPACTIONURL$", want: "row of Front Row http://g/?g=Front%20Row http://a/front"},
		{name: "a group of services", host: "web", service: "HTTP", text: "$SERVICEGROUPNAME$ $SERVICEGROUPALIAS$ $SERVICEGROUPMEMBERS$", want: "paths Paths db,SQL x,web,HTTP"},
		{name: "a service without a group", host: "web", service: "Load", text: "[$SERVICEGROUPNAME$] [$SERVICEGROUPNAMES$] [$SERVICEGROUPALIAS$]", want: "[] [] []"},
		{name: "every member of a group", host: "web", steps: 2, text: "$HOSTSTATEID:front:,$ $HOSTNAME:front: and $", want: "1,0 db and web"},
		{name: "a delimiter that is a colon", host: "web", text: "$HOSTADDRESS:front::$", want: "192.0.2.77:192.0.2.10"},
		{name: "an empty delimiter", host: "web", steps: 2, text: "$HOSTSTATEID:front:$", want: "10"},
		{name: "every service of a group", host: "web", steps: 3, text: "$SERVICESTATE:paths: $ $SERVICEDESC:paths:/$", want: "OK WARNING SQL x/HTTP"},

		{name: "a service of the same host", host: "web", service: "Load", steps: 3, text: "$SERVICESTATE::HTTP$ $SERVICEATTEMPT::HTTP$", want: "WARNING 1"},
		{name: "the same host has no such service", host: "web", service: "Load", text: "[$SERVICESTATE::Nope$] $SERVICESTATEID::Nope$", want: "[] 3"},
		{name: "a description with a blank", host: "web", text: "$SERVICEDESC:db:SQL x$", want: "SQL x"},
		{name: "a host that does not exist", host: "web", text: "[$HOSTSTATE:no$] $HOSTSTATEID:no$ [$HOSTADDRESS:no$] [$_HOSTOS:no$]", want: "[] 2 [] []"},

		{name: "services of the host by state", host: "web", steps: 4, text: "$TOTALHOSTSERVICES$ $TOTALHOSTSERVICESOK$ $TOTALHOSTSERVICESWARNING$ $TOTALHOSTSERVICESCRITICAL$ $TOTALHOSTSERVICESUNKNOWN$", want: "2 1 0 1 0"},
		{name: "services of another host", host: "web", text: "$TOTALHOSTSERVICES:db$", want: "1"},
		{name: "nothing of everything was checked yet", host: "web", text: "$TOTALHOSTSUP$ $TOTALHOSTSDOWN$ $TOTALHOSTPROBLEMS$ $TOTALSERVICESOK$ $TOTALSERVICEPROBLEMS$", want: "0 0 0 0 0"},
		{name: "totals of hosts", host: "web", steps: 2, text: "$TOTALHOSTSUP$ $TOTALHOSTSDOWN$ $TOTALHOSTSUNREACHABLE$ $TOTALHOSTSDOWNUNHANDLED$ $TOTALHOSTPROBLEMS$ $TOTALHOSTPROBLEMSUNHANDLED$", want: "1 1 0 1 1 1"},
		{name: "totals of services", host: "web", steps: 4, text: "$TOTALSERVICESOK$ $TOTALSERVICESWARNING$ $TOTALSERVICESCRITICAL$ $TOTALSERVICESUNKNOWN$ $TOTALSERVICESCRITICALUNHANDLED$ $TOTALSERVICEPROBLEMS$ $TOTALSERVICEPROBLEMSUNHANDLED$", want: "0 0 1 0 1 1 1"},

		{name: "a URL encodes what goes into it", host: "web", service: "HTTP", text: "$HOSTNOTESURL$", want: "http://w/?h=Web%20%3C1%3E&s=HTTP"},
		{name: "a URL without a service", host: "web", text: "$HOSTNOTESURL$", want: "http://w/?h=Web%20%3C1%3E&s="},
		{name: "a URL of a service with its output", host: "web", service: "HTTP", steps: 3, text: "$SERVICENOTESURL$", want: "http://w/HTTP?o=slow%3A%20%22very%22%20%3Cb%3E"},
		{name: "variables and secrets in a URL", host: "web", text: "$HOSTACTIONURL$", want: "http://a/pub%20lic/s3%20cret%26"},
		{name: "no URL at all", host: "db", text: "[$HOSTNOTESURL$] [$HOSTACTIONURL$] [$HOSTNOTES$]", want: "[] [] []"},

		{name: "users", host: "web", text: "$USER1$ [$USER3$] [$USER256$]", want: "/lib [] []"},
		{name: "arguments in a text that is no command", host: "web", text: "[$ARG1$] [$ARG32$]", want: "[] []"},
		{name: "the other settings of a service", host: "web", service: "HTTP", text: "$SERVICEISVOLATILE$ $MAXSERVICEATTEMPTS$ $SERVICECHECKCOMMAND$ $SERVICENOTIFICATIONPERIOD$", want: "1 4 chk!80!/a b!$_SERVICEPORT$ 24x7"},
		{name: "the time of the last step", host: "web", steps: 5, text: "$TIMET$ $TIME$ $DATE$ $LONGDATETIME$", want: "1779962530 10:02:10 05-28-2026 Thu May 28 10:02:10 UTC 2026"},
		{name: "a macro right behind another", host: "web", service: "HTTP", text: "$HOSTNAME$$SERVICEDESC$", want: "webHTTP"},
		{name: "a macro between two dollars each", host: "web", text: "$$$HOSTNAME$$$ $$HOSTNAME$$", want: "$web$ $HOSTNAME$"},
		{name: "a price before a macro", host: "web", text: "5$ for $HOSTNAME$", want: "5$ for $HOSTNAME$"},
		{name: "four dollars", host: "web", text: "$$$$", want: "$$"},
		{name: "a dollar at the end", host: "web", text: "$HOSTNAME$ $", want: "web $"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tc testCase
			tc.Title, tc.Input.Kind, tc.Input.Config, tc.Input.Resource = c.name, "text", shopConfig, shopResource
			tc.Input.Host, tc.Input.Service, tc.Input.Contact = c.host, c.service, c.contact
			tc.Input.Start, tc.Input.Steps = 1779962400, steps[:c.steps]
			tc.Input.Text, tc.Input.Clean, tc.Expect.Expanded = c.text, c.clean, &c.want
			runCase(t, tc)
			if t.Failed() {
				t.Logf("want %q", c.want)
			}
		})
	}
}

// TestCommandsOfAConfiguration expands check commands whole.
func TestCommandsOfAConfiguration(t *testing.T) {
	for _, c := range []struct{ name, host, service, want string }{
		{"arguments with blanks and variables", "web", "HTTP", `/lib/chk -H 192.0.2.10 -a "80" -b '/a b' -c 8080`},
		{"escaped signs, and a comment cut off", "web", "Load", `/lib/chk -H 192.0.2.10 -a "hi!there" -b 'a;b' -c `},
		{"dollars, and an argument that names another", "db", "SQL x", `/lib/chk -H 192.0.2.77 -a "pa$s" -b 'db' -c pa$s`},
		{"no arguments", "db", "", `/lib/chk -H 192.0.2.77 -a "" -b '' -c `},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tc testCase
			tc.Title, tc.Input.Kind, tc.Input.Config, tc.Input.Resource = c.name, "command", shopConfig, shopResource
			tc.Input.Host, tc.Input.Service, tc.Input.Start, tc.Expect.Expanded = c.host, c.service, 1779962400, &c.want
			runCase(t, tc)
			if t.Failed() {
				t.Logf("want %q", c.want)
			}
		})
	}
}

// TestEveryIllegalCharacterGoes cleans a value with each character in turn.
func TestEveryIllegalCharacterGoes(t *testing.T) {
	src := shop()
	for _, r := range illegal + "\x00\x01\t\x1b\x7f" {
		src.State("web!http").Measure.Output = "a" + string(r) + "b"
		if got := macro.Expand("$SERVICEOUTPUT$", src, macro.Options{Clean: true, Illegal: illegal}); got != "ab" {
			t.Errorf("%q stays: %q", r, got)
		}
		if got := macro.Expand("$SERVICEOUTPUT$", src, macro.Options{}); got != "a"+string(r)+"b" {
			t.Errorf("%q is gone although nothing is to be cleaned: %q", r, got)
		}
	}
	for _, r := range "!#%()*+,-./:;=?@[]^_{}äß€" {
		src.State("web!http").Measure.Output = "a" + string(r) + "b"
		if got := macro.Expand("$SERVICEOUTPUT$", src, macro.Options{Clean: true, Illegal: illegal}); got != "a"+string(r)+"b" {
			t.Errorf("%q is gone: %q", r, got)
		}
	}
}

// TestDurations takes the ages at which a field of the duration turns over.
func TestDurations(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0d 0h 0m 0s", 59: "0d 0h 0m 59s", 60: "0d 0h 1m 0s", 3599: "0d 0h 59m 59s", 3600: "0d 1h 0m 0s",
		86399: "0d 23h 59m 59s", 86400: "1d 0h 0m 0s", 400 * 86400: "400d 0h 0m 0s",
	} {
		src := shop()
		src.Now = src.State("web!http").Status.LastChange + object.Time(seconds*1000)
		if got := macro.Expand("$SERVICEDURATION$", src, macro.Options{}); got != want {
			t.Errorf("%d s: %q, want %q", seconds, got, want)
		}
	}
}

// TestWordsOfCommands splits lines as a shell would, where no shell is needed.
func TestWordsOfCommands(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"quotes within a word", `c a"b c"d'e f'g`, "c|ab cde fg"},
		{"a quote of the other kind within quotes", `c "it's" 'say "x"'`, `c|it's|say "x"`},
		{"an empty pair of quotes joins on", `c a""b ''x`, "c|ab|x"},
		{"empty words", `c '' "" x`, "c|||x"},
		{"an empty word at the end", `c ""`, "c|"},
		{"tabs and several blanks", "c\ta \t b\t", "c|a|b"},
		{"a line feed separates", "c a\nb", "c|a|b"},
		{"tabs in quotes stay", "c \"a\tb\"", "c|a\tb"},
		{"a backslash before a blank", `c a\ b`, "c|a b"},
		{"a backslash in single quotes", `c 'a\b' 'a\\b'`, `c|a\b|a\\b`},
		{"a backslash in double quotes", `c "a\b" "a\\b" "a\"b"`, `c|a\b|a\b|a"b`},
		{"two backslashes", `c C:\\temp`, `c|C:\temp`},
		{"a backslash before a quote", `c \"a\" \'`, `c|"a"|'`},
		{"a backslash at the end is dropped", `c a\`, "c|a"},
		{"a single quote put into single quotes", `c 'it'\''s'`, "c|it's"},
		{"percent, comma, colon and slash", "c -w 3000.0,80% -u http://h:80/x#y", "c|-w|3000.0,80%|-u|http://h:80/x#y"},
		{"an option with a value in quotes", `c --msg="a b" -x='1 2'`, "c|--msg=a b|-x=1 2"},
		{"wide letters", "c größe '✓ ok'", "c|größe|✓ ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv, shell, err := macro.SplitCommand(c.in)
			if got := strings.Join(argv, "|"); err != nil || shell || got != c.want {
				t.Errorf("got %q (shell %v, %v), want %q", got, shell, err, c.want)
			}
		})
	}
}
