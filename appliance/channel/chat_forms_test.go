package channel

import (
	"strings"
	"testing"
)

func TestTheFormsThatAreShownAreGood(t *testing.T) {
	for name, form := range formsOfChat {
		if err := CheckChat(form); err != nil || !strings.HasPrefix(form, name+":") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestAnAddressIsToldTheFormOfItsService(t *testing.T) {
	for _, tt := range []struct{ name, address, want string }{
		{"slack without its three parts", "slack://hook:x@webhook", formsOfChat["slack"]},
		{"another transport behind the name", "Bark+http://x", formsOfChat["bark"]},
		{"a service that nobody knows", "fax://x", ""},
		{"no service at all", "x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ChatForm(tt.address); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
