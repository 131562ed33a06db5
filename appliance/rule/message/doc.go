// Package message says in words what happened, for one contact over one channel:
// subject, text, HTML and a short line.
//
// It owns the model that templates see, the texts that jaque brings along, and the
// escaping for each format. It never sends anything and knows no channel by name,
// but for mail, whose short line is always jaque's.
//
// Operators write their own texts as templates of Go, see text/template, over Data:
// {{.Host}}, {{.State}}, {{range .Items}}. Besides the library's functions there are
// since (how long ago), span (a length), clock (a time with its zone), join, upper,
// lower, clip, default and plural. HTML is escaped for where a value stands. A
// template may write 256 KiB, may not call itself, and has a bounded amount of work;
// Compile tries it with a message of every kind. If it fails all the same, jaque's
// own text goes out and says so: nobody misses a page because of a template.
//
// Start reading at Message, Render and Data.
package message
