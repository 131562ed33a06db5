package object_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

func TestTokens(t *testing.T) {
	tests := []struct {
		name  string
		id    object.ID
		token string
	}{
		{"a plain host stands for itself", "web-01_a", "web-01_a"},
		{"dots and exclamation marks are escaped", "web01.example.com!http", "web01%2Eexample%2Ecom%21http"},
		{"the reserved token cannot be reached", "_system", "%5Fsystem"},
		{"what subjects give a meaning is escaped", "a*b>c d", "a%2Ab%3Ec%20d"},
		{"bytes outside ASCII are escaped one by one", "é", "%C3%A9"},
		{"the escape itself is escaped", "50%", "50%25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.id.Token(); got != tt.token {
				t.Errorf("token %s, want %s", got, tt.token)
			}
			if got, err := object.ParseToken(tt.token); got != tt.id || err != nil {
				t.Errorf("parsed %q, %v, want %q", got, err, tt.id)
			}
		})
	}
}

func TestParseTokenRefusesWhatTokenNeverWrites(t *testing.T) {
	tests := []struct{ name, token, text string }{
		{"nothing", "", "it is empty"},
		{"half an escape", "a%2", "cut off"},
		{"an escape in lower case", "a%2e", "is not an escape"},
		{"an escape that was not needed", "%61", `that would be "a"`},
		{"a byte that must be escaped", "a.b", `that would be "a%2Eb"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := object.ParseToken(tt.token); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want one with %q", err, tt.text)
			}
		})
	}
}

// Every object has exactly one subject and the subject tells the object.
func TestTokenIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := object.ID(rapid.SliceOfN(rapid.Byte(), 1, -1).Draw(t, "id"))
		token := id.Token()
		if strings.ContainsAny(token, ".*> \t\r\n") || token == "_system" {
			t.Fatalf("%q is no token of a subject", token)
		}
		if back, err := object.ParseToken(token); back != id || err != nil {
			t.Fatalf("%q came back as %q, %v", id, back, err)
		}
	})
}

func FuzzParseToken(f *testing.F) {
	f.Add("web01%21http")
	f.Add("%")
	f.Fuzz(func(t *testing.T, token string) {
		if id, err := object.ParseToken(token); err == nil && id.Token() != token {
			t.Fatalf("%q is accepted, its object has the token %q", token, id.Token())
		}
	})
}

func TestIDsNameHostsAndServices(t *testing.T) {
	host, service := object.HostID("web01"), object.ServiceID("web01", "disk!/var")
	if host.Kind() != object.Host || host.Host() != "web01" || host.Service() != "" {
		t.Errorf("host %q is a %s: %q, %q", host, host.Kind(), host.Host(), host.Service())
	}
	if service.Kind() != object.Service || service.Host() != "web01" || service.Service() != "disk!/var" {
		t.Errorf("service %q is a %s: %q, %q", service, service.Kind(), service.Host(), service.Service())
	}
}
