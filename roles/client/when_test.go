package client

import (
	"strings"
	"testing"
	"time"
)

func TestLengthsOfTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "90s": 90 * time.Second,
		"1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1w2d3h": (7*24 + 2*24 + 3) * time.Hour,
		"": 0, "30": 0, "-5m": 0, "0s": 0, "5d-1h": 0, "d": 0, "1.5d": 0, "+1h": 0, "two hours": 0, "99999w": 0,
	} {
		got, err := readDuration(text)
		if got != want && want != 0 || (err == nil) != (want != 0) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "write 30m") {
			t.Errorf("%q: the error names no way out: %v", text, err)
		}
	}
}

func TestPointsInTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2027, 3, 27, 10, 0, 0, 0, berlin) // a Saturday, before the clocks go forward
	for text, want := range map[string]string{
		"now":                       "2027-03-27T09:00:00Z",
		"15:04":                     "2027-03-27T14:04:00Z",
		"09:00":                     "2027-03-28T07:00:00Z", // tomorrow, in summer time
		"10:00":                     "2027-03-28T08:00:00Z",
		"today 09:00":               "2027-03-27T08:00:00Z",
		"tomorrow 06:00":            "2027-03-28T04:00:00Z",
		"sunday 01:30":              "2027-03-28T00:30:00Z",
		"Sat 09:00":                 "2027-04-03T07:00:00Z",
		"sat 11:00":                 "2027-03-27T10:00:00Z",
		"friday 00:00":              "2027-04-01T22:00:00Z",
		"+30m":                      "2027-03-27T09:30:00Z",
		"+1d":                       "2027-03-28T09:00:00Z",
		"2027-10-31 02:30":          "2027-10-31T00:30:00Z", // the first of the two
		"2027-10-31 03:00":          "2027-10-31T02:00:00Z",
		"2027-01-31":                "2027-01-30T23:00:00Z",
		"2027-01-31T15:04":          "2027-01-31T14:04:00Z",
		"2027-01-31T15:04:05+05:30": "2027-01-31T09:34:05Z",
		"2027-01-31t15:04:05z":      "2027-01-31T15:04:05Z",
		"sunday 02:30":              "", // never shown by the clocks
		"2027-03-28 02:30":          "",
		"1800000000":                "",
		"1800000000000":             "",
		"25:00":                     "",
		"2027-02-30":                "",
		"someday 10:00":             "",
		"su 10:00":                  "",
		"":                          "",
	} {
		got, err := readTime(text, from)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: got %v, want an error", text, got)
		case want == "" && !strings.Contains(err.Error(), "write "):
			t.Errorf("%q: the error names no way out: %v", text, err)
		case want != "" && (err != nil || stamp(got) != want):
			t.Errorf("%q: got %v, %v, want %s", text, stamp(got), err, want)
		}
	}
}

func FuzzTimes(f *testing.F) {
	for _, seed := range []string{"15:04", "tomorrow 06:00", "+1w2d", "2027-01-31T15:04:00Z", "sunday 02:00", "+", "w", "1d1w"} {
		f.Add(seed)
	}
	from := time.Date(2027, 3, 27, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := readTime(text, from); err == nil && strings.HasPrefix(text, "+") && !got.After(from) {
			t.Errorf("%q is %v, which is not after %v", text, got, from)
		}
		if d, err := readDuration(text); err == nil && d <= 0 {
			t.Errorf("%q is %v", text, d)
		}
	})
}
