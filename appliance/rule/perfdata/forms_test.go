package perfdata_test

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/perfdata"
)

// TestFormsOfMetrics writes what was read back as text: String gives every
// field in one spelling, so a row shows label, value, unit and limits at once.
// The bad words follow behind " ! ".
func TestFormsOfMetrics(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"all fields", "a=1s;2;3;0;10", "a=1s;2;3;0;10"},
		{"a fifth semicolon behind the maximum", "a=1;2;3;0;10;", "a=1;2;3;0;10"},
		{"only semicolons", "a=1;;;;", "a=1"},
		{"a maximum alone", "a=1;;;;9", "a=1;;;;9"},
		{"ranges of every form", "a=1;@1:2;~:3;0;", "a=1;@1:2;~:3;0"},
		{"an open range", "a=1;10:;:20", "a=1;10:;20"},
		{"thresholds with exponents", "a=1;1e2;-5e-1:2e3", "a=1;100;-0.5:2000"},
		{"a negative minimum", "a=-1;;;-40;-2", "a=-1;;;-40;-2"},
		{"minus zero", "a=-0", "a=-0"},
		{"a plus sign", "a=+5", "a=5"},
		{"a fraction without a zero before it", "a=.5", "a=0.5"},
		{"no digits behind the dot", "a=5.", "a=5"},
		{"many digits", "a=18446744073709551615c", "a=1.8446744073709552e+19c"},

		{"unknown with limits", "a=U;1;2;0;9", "a=U;1;2;0;9"},
		{"a small u is no value", "a=u b=1", "b=1 ! a=u"},
		{"unknown with a unit is no value", "a=Us b=1", "b=1 ! a=Us"},

		{"seconds and their parts", "a=1s b=2ms c=3us d=4ns", "a=1s b=2ms c=3us d=4ns"},
		{"bytes and their multiples", "a=1B b=2KB c=3MB d=4GB e=5TB f=6KiB", "a=1B b=2KB c=3MB d=4GB e=5TB f=6KiB"},
		{"percent and counters", "a=1% b=2c", "a=1% b=2c"},
		{"units that nobody listed", "a=1rpm b=2W c=3°C d=4l/min e=5‰ f=6€ g=7m²", "a=1rpm b=2W c=3°C d=4l/min e=5‰ f=6€ g=7m²"},
		{"both letters for micro", "a=1µs b=2μs", "a=1µs b=2μs"},
		{"digits in a unit", "a=1m2 b=2", "b=2 ! a=1m2"},
		{"punctuation in a unit", "a=1! b=2# c=3", "c=3 ! a=1! b=2#"},
		{"a unit that starts with an exponent's letter", "a=1e b=2E c=3Eh", "a=1e b=2E c=3Eh"},

		{"a label with blanks", "'disk C: used'=5%", "'disk C: used'=5%"},
		{"quotes that are not needed", "'a'=1", "a=1"},
		{"an equals sign in quotes", "'a=b'=1", "'a=b'=1"},
		{"two quotes in quotes", "'it''s'=1", "'it''s'=1"},
		{"a label of one quote", "''''=1", "''''=1"},
		{"quotes at both ends of a quoted label", "'''a'''=1", "'''a'''=1"},
		{"semicolons and bars in a label", "a;b|c=1 'd;e'=2", "a;b|c=1 d;e=2"},
		{"slashes, colons and brackets in a label", "/=1 C:\\=2 eth0[in]=3", "/=1 C:\\=2 eth0[in]=3"},
		{"a label that looks like a number", "5=6", "5=6"},
		{"the same label twice", "a=1 a=2", "a=1 a=2"},

		{"an empty label", "=1 b=2", "b=2 ! =1"},
		{"an empty label in quotes", "''=1 b=2", "b=2 ! ''=1"},
		{"a quote that nothing closes", "'a=1 b=2", "b=2 ! 'a=1"},
		{"a quote within a bare label", "it's=1 b=2", "b=2 ! it's=1"},
		{"blanks around the equals sign", "a = 1 b=2", "b=2 ! a = 1"},
		{"a blank behind the equals sign", "a= 1 b=2", "b=2 ! a= 1"},
		{"no blank between two metrics", "'a'=1'b'=2 c=3", "c=3 ! 'a'=1'b'=2"},
		{"two equals signs", "a==1 b=2", "b=2 ! a==1"},
		{"no value", "a= b=2", "b=2 ! a="},
		{"no value but limits", "a=;1;2 b=2", "b=2 ! a=;1;2"},
		{"a word as value", "a=on b=2", "b=2 ! a=on"},
		{"a hexadecimal value", "a=0x1f b=2", "b=2 ! a=0x1f"},
		{"a comma in the value", "a=1,5 b=2", "b=2 ! a=1,5"},
		{"two dots", "a=1.2.3 b=2", "b=2 ! a=1.2.3"},
		{"two signs", "a=--1 b=2", "b=2 ! a=--1"},
		{"a threshold that starts above its end", "a=1;5:2 b=2", "b=2 ! a=1;5:2"},
		{"a threshold of letters", "a=1;x b=2", "b=2 ! a=1;x"},
		{"a critical threshold with a comma", "a=1;2;3,5 b=2", "b=2 ! a=1;2;3,5"},
		{"a minimum that is a range", "a=1;;;0:5 b=2", "b=2 ! a=1;;;0:5"},
		{"a maximum with a unit", "a=1;;;0;9s b=2", "b=2 ! a=1;;;0;9s"},
		{"a sixth field", "a=1;;;0;9;7 b=2", "b=2 ! a=1;;;0;9;7"},
		{"a value beyond all numbers", "a=1e999 b=2", "b=2 ! a=1e999"},

		{"tabs and line feeds between metrics", "a=1\tb=2\nc=3\r\nd=4", "a=1 b=2 c=3 d=4"},
		{"blanks around", "   a=1   b=2   ", "a=1 b=2"},
		{"only blanks", " \t\n", ""},
		{"only words", "no metrics here", " ! no metrics here"},
		{"a bar between metrics", "a=1 | b=2", "a=1 b=2 ! |"},
		{"a comma between metrics", "a=1, b=2", "b=2 ! a=1,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			metrics, bad := perfdata.Parse(c.in)
			var words []string
			for _, m := range metrics {
				words = append(words, m.String())
			}
			got := strings.Join(words, " ")
			if len(bad) > 0 {
				got += " ! " + strings.Join(bad, " ")
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
