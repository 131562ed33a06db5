package macro_test

import "testing"

// What operators do at run time is seen by macros.
func TestMacrosAfterCommands(t *testing.T) {
	for _, tt := range []struct {
		name  string
		text  string
		steps []step
		want  string
	}{
		{"a fixed downtime", "$SERVICEDOWNTIME$ $HOSTDOWNTIME$", []step{
			{At: -60, Cmd: "SCHEDULE_SVC_DOWNTIME;web;HTTP;999999940;1000003600;1;0;0;ops;work"},
			{At: 0, Cmd: "ADD_HOST_COMMENT;web;0;ops;x"},
		}, "1 0"},
		{"an acknowledgement", "$SERVICEACKAUTHOR$: $SERVICEACKCOMMENT$", []step{
			{At: -60, Service: "web/HTTP", RC: 2, Output: "down"},
			{At: 0, Cmd: "ACKNOWLEDGE_SVC_PROBLEM;web;HTTP;1;0;0;Ann;on it"},
		}, "Ann: on it"},
		{"custom variables", "$_SERVICEPORT$ $_HOSTOS$ $_CONTACTSHIFT$", []step{
			{At: 0, Cmd: "CHANGE_CUSTOM_SVC_VAR;web;HTTP;port;9090"},
			{At: 0, Cmd: "CHANGE_CUSTOM_HOST_VAR;web;OS;BSD"},
			{At: 0, Cmd: "CHANGE_CUSTOM_CONTACT_VAR;ops;SHIFT;day"},
		}, "9090 BSD day"},
		{"notifications off", "$SERVICENOTIFICATIONENABLED$ $HOSTNOTIFICATIONENABLED$", []step{
			{At: 0, Cmd: "DISABLE_SVC_NOTIFICATIONS;web;HTTP"},
		}, "0 1"},
		{"a submitted result", "$SERVICESTATE$ $SERVICEOUTPUT$ $SERVICECHECKTYPE$ $SERVICEPERFDATA$", []step{
			{At: 0, Cmd: "PROCESS_SERVICE_CHECK_RESULT;web;HTTP;1;slow | t=3s"},
		}, "WARNING slow PASSIVE t=3s"},
		{"attempts", "$MAXSERVICEATTEMPTS$", []step{
			{At: -1, Cmd: "CHANGE_MAX_SVC_CHECK_ATTEMPTS;web;HTTP;7"},
			{At: 0, Service: "web/HTTP", RC: 2, Output: "down"},
		}, "7"},
		{"a period", "$ISVALIDTIME:24x7$ $NEXTVALIDTIME:24x7$", []step{{At: 0, Service: "web/HTTP"}}, "0 1000080000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := testCase{Title: tt.name}
			c.Input.Kind, c.Input.Host, c.Input.Service, c.Input.Contact = "text", "web", "HTTP", "ops"
			c.Input.Config, c.Input.Start, c.Input.Steps, c.Input.Text = shopConfig, 1_000_000_000, tt.steps, tt.text
			c.Expect.Expanded = &tt.want
			runCase(t, c)
		})
	}
}
