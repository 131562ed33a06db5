package channel

import "strings"

// formsOfChat are addresses as services want them, for people whose own one is wrong:
// what the library says of it is often no more than that it has failed.
var formsOfChat = map[string]string{
	"bark":       "bark://:DEVICEKEY@api.day.app",
	"discord":    "discord://TOKEN@WEBHOOKID",
	"googlechat": "googlechat://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN",
	"gotify":     "gotify://gotify.example.com/AAAAAAAAAAAAAAA",
	"ifttt":      "ifttt://KEY/?events=EVENT",
	"join":       "join://shoutrrr:APIKEY@join/?devices=DEVICE",
	"lark":       "lark://open.larksuite.com/TOKEN",
	"matrix":     "matrix://USER:PASSWORD@matrix.example.com/?rooms=ROOM",
	"mattermost": "mattermost://chat.example.com/TOKEN",
	"ntfy":       "ntfy://ntfy.sh/TOPIC",
	"opsgenie":   "opsgenie://api.opsgenie.com/KEY",
	"pagerduty":  "pagerduty:///0123456789abcdef0123456789abcdef",
	"pushover":   "pushover://shoutrrr:APITOKEN@USERKEY",
	"rocketchat": "rocketchat://chat.example.com/TOKENA/TOKENB",
	"signal":     "signal://localhost:8080/+4915100000001/+4915100000002",
	"slack":      "slack://hook:AAAAAAAAA-BBBBBBBBB-CCCCCCCCCCCCCCCCCCCCCCCC@webhook",
	"wecom":      "wecom://KEY",
	"zulip":      "zulip://bot%40example.com:KEY@example.zulipchat.com/?stream=STREAM&topic=TOPIC",
}

// ChatForm returns an address of the kind that the service of another one wants, ""
// if none is known.
func ChatForm(address string) string {
	name, _, _ := strings.Cut(address, ":")
	name, _, _ = strings.Cut(name, "+")
	return formsOfChat[strings.ToLower(name)]
}
