// Package message says in words what happened, for one contact over one channel:
// subject, text, HTML and a short line.
//
// It owns the model that templates see, the texts that jaque brings along, and the
// escaping for each format. It never sends anything and knows no channel by name.
// Start reading at Message.
package message
