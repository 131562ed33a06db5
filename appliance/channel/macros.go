package channel

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/message"
)

// notificationMacros completes a source with what the macros of a notification
// command tell beside those of its object: contact, type, number, author, and the
// state of the event, whatever has become of the object since. What an operator
// wrote comes without the characters of illegal.
func notificationMacros(src *macro.Source, m *message.Message, it *message.Item, illegal string) *macro.Source {
	out := *src
	out.Static = maps.Clone(src.Static)
	if out.Static == nil {
		out.Static = map[string]string{}
	}
	maps.Copy(out.Static, notificationStatic(&out, m, it))
	if m.Test {
		out.Object = testHost()
	}
	for _, name := range []string{"NOTIFICATIONAUTHOR", "NOTIFICATIONCOMMENT"} {
		out.Static[name] = without(out.Static[name], illegal)
	}
	if m.Now != 0 {
		out.Now = m.Now
	}
	if out.Contact == nil && m.Contact != nil {
		out.Contact = &macro.Contact{Name: m.Contact.Name, Alias: m.Contact.Alias, Email: m.Contact.Email, Vars: m.Contact.Vars}
	}
	out.State = stateAt(src.State, it)
	return &out
}

// stateAt answers with the item's state for its object and with the present one
// for all others.
func stateAt(present func(object.ID) *fold.State, it *message.Item) func(object.ID) *fold.State {
	return func(id object.ID) *fold.State {
		var now *fold.State
		if present != nil {
			now = present(id)
		}
		if id != it.ID || it.Status == nil {
			return now
		}
		var then fold.State
		if now != nil {
			then = *now
		}
		then.Status = *it.Status
		if it.Measure != nil {
			then.Measure = *it.Measure
		}
		// A recovery has set the number back, but is told with it.
		then.Status.NotificationNumber = it.Number
		return &then
	}
}

// notificationStatic answers the macros that no object does.
func notificationStatic(src *macro.Source, m *message.Message, it *message.Item) map[string]string {
	told := slices.Clone(it.Others)
	if m.Contact != nil && !slices.Contains(told, m.Contact.Name) {
		told = append(told, m.Contact.Name)
		slices.Sort(told)
	}
	escalated := "0"
	if len(it.Steps) > 0 {
		escalated = "1"
	}
	static := map[string]string{
		"NOTIFICATIONTYPE":        it.Kind,
		"NOTIFICATIONNUMBER":      strconv.Itoa(int(it.Number)),
		"NOTIFICATIONRECIPIENTS":  strings.Join(told, ","),
		"NOTIFICATIONISESCALATED": escalated,
		"NOTIFICATIONAUTHOR":      it.Author,
		"NOTIFICATIONAUTHORNAME":  "",
		"NOTIFICATIONAUTHORALIAS": "",
		"NOTIFICATIONCOMMENT":     it.Text,
	}
	if src.FindContact != nil && it.Author != "" {
		if c := src.FindContact(it.Author); c != nil {
			static["NOTIFICATIONAUTHORNAME"], static["NOTIFICATIONAUTHORALIAS"] = c.Name, c.Alias
		}
	}
	return static
}

// without takes control characters and those of illegal out of a text.
func without(text, illegal string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 127 || strings.ContainsRune(illegal, r) {
			return -1
		}
		return r
	}, text)
}

// testText is what a command is told of a message that somebody sends to try it.
const testText = "TEST: This is a test of the notifications. Nothing has happened."

// testHost is what a test is about: scripts get no empty names, and everything that
// they may say to people says that it is a test.
func testHost() *object.Object {
	return &object.Object{ID: "TEST", Name: "TEST", Alias: "TEST", Rule: &object.Rule{Attempts: 1}}
}

// testItem is the item of such a message. The type is CUSTOM, because scripts know the
// types of Nagios alone.
func testItem(m *message.Message) *message.Item {
	return &message.Item{
		ID: testHost().ID, Kind: string(notify.Custom), Time: m.Now, Author: "TEST", Text: testText,
		Status: &event.Status{Checked: true, Type: object.Hard, Attempt: 1, MaxAttempts: 1}, Measure: &event.Measure{Output: testText},
	}
}
