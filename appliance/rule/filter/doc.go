// Package filter is the language that lists are narrowed with, in the
// dashboard's filter box, the API's filter parameter and configured views:
//
//	state=CRITICAL label.role=web      both hold; "and" may stand between
//	host~web or group=x                either; "and" binds tighter
//	!acknowledged  (a or b) c          negation and grouping
//	"disk full"                        text in names or output, in any case
//	*                                  everything
//
// A field is compared with = != ~ !~, where ~ is "contains". A word such as
// unhandled or in_downtime is a condition by itself; Fields and Flags list both.
//
// It owns the grammar, the error texts with their column and the matching of
// one object. It never reads a clock or looks an object up: what a filter needs
// is handed to Match. Start reading at Parse.
package filter
