package macro_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
)

// shift is open from one instant to another, in seconds, and never again.
type shift struct{ from, to object.Time }

func (shift) Name() string   { return "shift" }
func (shift) String() string { return "" }

func (p shift) Window(at object.Time) (bool, object.Time) {
	switch {
	case at < p.from*1000:
		return false, p.from * 1000
	case at < p.to*1000:
		return true, p.to * 1000
	}
	return false, 0
}

func TestMacrosOfPeriods(t *testing.T) {
	src := shop()
	src.Period = func(name string) object.Period {
		if name != "shift" {
			return nil
		}
		return shift{2000, 3000}
	}
	src.Now = 2_500_500
	for text, want := range map[string]string{
		"$ISVALIDTIME:shift$":        "1",
		"$ISVALIDTIME:shift:$":       "1",
		"$ISVALIDTIME:shift:1999$":   "0",
		"$ISVALIDTIME:shift:3000$":   "0",
		"$NEXTVALIDTIME:shift$":      "2500",
		"$NEXTVALIDTIME:shift:1$":    "2500",
		"$NEXTVALIDTIME:shift:3000$": "0",
		"$ISVALIDTIME:other$":        "",
		"$NEXTVALIDTIME:shift:now$":  "",
		"$ISVALIDTIME$":              "",
	} {
		if got := macro.Expand(text, src, macro.Options{}); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	src.Now = 1_000_000
	if got := macro.Expand("$NEXTVALIDTIME:shift$ $NEXTVALIDTIME:shift:1500$", src, macro.Options{}); got != "2000 2000" {
		t.Errorf("before the shift %q", got)
	}
	src.Period = nil
	if got := macro.Expand("$ISVALIDTIME:shift$", src, macro.Options{}); got != "" {
		t.Errorf("without periods %q", got)
	}
}
