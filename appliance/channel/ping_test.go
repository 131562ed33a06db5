package channel_test

import (
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/channel"
)

func TestTheCanaryAsksItsAddress(t *testing.T) {
	method := make(chan string, 1)
	address, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { method <- r.Method + " " + r.URL.Path })
	p, err := channel.NewPing(address+"/1234-uuid", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := <-method; got != "GET /1234-uuid" {
		t.Error(got)
	}
}

func TestACanaryThatIsNotHeardIsNeverGivenUp(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusNotFound, http.StatusTooManyRequests, http.StatusBadGateway} {
		address, _ := serve(t, say(status, "", "Location", "/elsewhere"))
		p, err := channel.NewPing(address+"/1234-uuid", nil)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Send(t.Context(), test())
		checkError(t, err, false, false, 0, "canary at 127.0.0.1")
		if strings.Contains(err.Error(), "uuid") {
			t.Error(err)
		}
	}
	if _, err := channel.NewPing("hc-ping.com/uuid", nil); err == nil || strings.Contains(err.Error(), "uuid") {
		t.Error(err)
	}
}
