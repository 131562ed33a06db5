package config

import "strings"

// cmpText compares two texts byte by byte.
func cmpText(a, b string) int { return strings.Compare(a, b) }

// varName brings the name of a custom variable to the form that macros use.
func varName(name string) string {
	return strings.ToUpper(strings.TrimLeft(name, "_"))
}
