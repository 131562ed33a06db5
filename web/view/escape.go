package view

import (
	"net/url"
	"strings"
)

// escape writes a text for the value of a query parameter.
func escape(s string) string { return url.QueryEscape(s) }

// quote writes a text as a value of the filter language.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\r()\"'=~!\\") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
