package channel

import (
	"context"
	"net/http"

	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// ping asks an address of the outside, which raises the alarm when nobody has
// asked for some time. What the message says does not matter.
type ping struct {
	address string
	client  *http.Client
	veil    veil.Veil
	what    string
}

// NewPing returns a channel that asks the address with GET for each message: the
// dead man's switch of services such as healthchecks.io. client nil = NewClient.
func NewPing(address string, client *http.Client) (Channel, error) {
	what, err := checkAddress("the address of the canary", address)
	if err != nil {
		return nil, err
	}
	return &ping{address, orNew(client), veil.New(veil.OfURL(address)...), "canary at " + what}, nil
}

// Send asks the address. It reads nothing of the message, nil is one too.
func (p *ping) Send(ctx context.Context, m *message.Message) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address, nil)
	if err != nil {
		return failed(p.what, p.veil, err)
	}
	req.Header.Set("User-Agent", userAgent(m))
	a, err := ask(p.client, req)
	if err == nil {
		if wrong := a.verdict(); wrong != nil {
			// The next round asks again whatever was said to this one.
			wrong.Permanent = false
			err = wrong
		}
	}
	if err != nil {
		return failed(p.what, p.veil, err)
	}
	return nil
}

// orNew returns the client, a new one for nil.
func orNew(client *http.Client) *http.Client {
	if client == nil {
		return NewClient(nil)
	}
	return client
}

// userAgent is who we say that we are.
func userAgent(m *message.Message) string {
	if m == nil || m.Version == "" {
		return "jaque"
	}
	return "jaque/" + m.Version
}
