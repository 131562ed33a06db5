package veil

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestASecretIsFoundInEveryShape(t *testing.T) {
	const secret = "tok-9fQ2xLm7Rz8Wk3Vb"
	v := New(secret)
	std, inURL := base64.StdEncoding, base64.URLEncoding
	for name, text := range map[string]string{
		"as it is":                          secret,
		"in capitals":                       strings.ToUpper(secret),
		"in small letters":                  strings.ToLower(secret),
		"in base64":                         std.EncodeToString([]byte(secret)),
		"in base64 without padding":         std.WithPadding(base64.NoPadding).EncodeToString([]byte(secret)),
		"in base64 for a URL":               inURL.EncodeToString([]byte(secret)),
		"in small base64":                   strings.ToLower(std.EncodeToString([]byte(secret))),
		"its last 12 characters":            secret[len(secret)-12:],
		"its last 8 characters in capitals": strings.ToUpper(secret[len(secret)-8:]),
		"its first 9 characters":            secret[:9],
		"all but the first character":       secret[1:],
	} {
		got := v.Clean("answered 401: key <" + text + "> is unknown")
		if got != "answered 401: key <"+Hidden+"> is unknown" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for before := range 4 {
		text := std.EncodeToString([]byte(strings.Repeat("x", before) + secret + " is unknown"))
		if got := v.Clean(text); strings.Contains(got, std.EncodeToString([]byte(secret))[6:18]) || !strings.Contains(got, Hidden) {
			t.Errorf("within a longer text, behind %d characters: %s", before, got)
		}
	}
}

func TestAShortSecretIsFoundAsLibrariesWriteIt(t *testing.T) {
	for text, secret := range map[string]string{
		`{"error":"Tr0ub4dor\u00263"}`:           "Tr0ub4dor&3",
		"<b>Tr0ub4dor&amp;3</b>":                 "Tr0ub4dor&3",
		"parse nats://u:Geh%c3%a4im%26@host: no": "Gehäim&",
		"answered two words":                     "two \t words",
	} {
		v := New(secret)
		if got := v.Clean(text); !strings.Contains(got, Hidden) {
			t.Errorf("%q in %s: %s", secret, text, got)
		}
	}
}

func TestServersAreNamedWithoutWhoConnects(t *testing.T) {
	for list, want := range map[string]string{
		"nats://127.0.0.1:4222":               "nats://127.0.0.1:4222",
		"nats://eng:Sup3r@a:4222,tls://b:1":   "nats://" + Hidden + "@a:4222,tls://b:1",
		"nats://token@a":                      "nats://" + Hidden + "@a",
		"nats://u:Geh%eim@p@a:4222":           "nats://" + Hidden + "@a:4222",
		"eng:pw@a:4222":                       Hidden + "@a:4222",
		"embedded":                            "embedded",
		"nats://a:4222,eng:pw@b,nats://c:p@d": "nats://a:4222," + Hidden + "@b,nats://" + Hidden + "@d",
	} {
		if got := Servers(list); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

func TestWordsAreNoSecrets(t *testing.T) {
	v := New("notification-hooks", "admin", "Hunter", "https://hooks.example.com/T0AB12CD/notifications", "/T0AB12CD/notifications", "notifications")
	for _, text := range []string{
		"answered 400: notification not accepted",
		"answered 403: Administrator only",
		"dial https://hooks.example.net: connection refused",
		"hunted: no such channel",
	} {
		want := strings.ReplaceAll(text, "admin", Hidden)
		if got := v.Clean(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
	if got := v.Clean("an ADMIN of Hunter"); got != "an ADMIN of "+Hidden {
		t.Errorf("short secrets are found as they are alone: %s", got)
	}
}

// Whatever surrounds a long secret, no eight characters of its beginning or end with a
// digit are left, and nothing else goes.
func TestNothingIsLeftOfALongSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9éß+-]{12,30}`).Draw(t, "secret")
		text := rapid.StringMatching(`[ .,:éß<>]{0,20}`).Draw(t, "before")
		v := New(secret)
		got := v.Clean(text + "<" + strings.ToUpper(secret) + secret + ">")
		if want := strings.Join(strings.Fields(text+"<"+Hidden+">"), " "); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		cut := rapid.IntRange(telling, len(secret)).Draw(t, "cut")
		tail := secret[len(secret)-cut:]
		if got := v.Clean("<" + tail + ">"); !utf8.ValidString(got) || strings.Contains(got, tail) && !wordlike(tail) {
			t.Fatalf("%q is left in %q", tail, got)
		}
	})
}

func TestWithoutSecretsTextsStay(t *testing.T) {
	v := New()
	if got := v.Clean("a  b\nc"); got != "a b c" {
		t.Errorf("%q", got)
	}
}
