// Package period reads calendars ("monday-friday 09:00-17:00", "day -1
// 22:00-24:00", "2026-12-24 - 2027-01-02 00:00-24:00") and tells whether an
// instant lies inside one and when that changes next.
//
// It owns the day forms of Nagios, which of them counts on a day, exclusions and
// what a change of clocks does. It never looks up a time zone by name, because
// that reads files: callers hand in a *time.Location. Start reading at Parse and
// Period.Window.
//
// # Which line counts on a day
//
// Calendar dates go before month dates, those before days of every month, before
// weekdays of one month, before weekdays of every month, before plain weekdays.
// Of two lines of the same kind the later one counts. The line that counts
// supplies all spans of the day; nothing is mixed. So "00:00-00:00" empties it.
//
// # Clocks that change
//
// One rule: an instant is inside if the clock on the wall shows a time that is
// inside. It follows that a span ends when the clock shows its end, on a day of
// 23 or 25 hours too; that the hour a clock skips belongs to no span, so a span
// that lies wholly within it does not take place that day; and that of an hour
// which comes twice both passes are inside, so a span that ends within it opens
// a second time. Windows and Odd tell people about such days.
//
// Starts belong to a span, ends do not: "09:00-17:00" is over at 17:00:00.
//
// # Where Nagios is wrong
//
// The end of a range with a skip ("2026-06-01 - 2026-06-10 / 2") holds, ranges
// of months over New Year cover January too, skips count days of the calendar
// and not blocks of 86,400 seconds, dated spans end by the clock on the wall, and
// the day before a change of clocks knows nothing of the day after it.
package period
