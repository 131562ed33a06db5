package channel

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	shoutrrrtelegram "github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
	"github.com/nicholas-fedor/shoutrrr/pkg/util/jsonclient"
)

// newService makes the service of an address. It says why one cannot be, which the
// library's own way to make one does not.
func newService(address string) (service types.Service, err error) {
	defer guard(&err)
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no address")
	}
	var r router.ServiceRouter
	name, _, custom := strings.Cut(u.Scheme, "+")
	if service, err = r.NewService(name); err != nil {
		return nil, err
	}
	if custom {
		from, ok := service.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("it takes no address of another kind; leave out what stands between %q and the colon", name)
		}
		if u, err = from.GetConfigURLFromCustom(u); err != nil {
			return nil, err
		}
	}
	if err := service.Initialize(u, nil); err != nil {
		return nil, err
	}
	harness(service)
	return service, nil
}

// guard makes an error of a panic in the library.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = &Error{Err: fmt.Errorf("the library for this service has failed: %v", p), MayHaveArrived: true}
	}
}

// harness gives services what they lack.
func harness(service types.Service) {
	switch s := service.(type) {
	case *ntfy.Service:
		// Its own client keeps a connection for ever, and there is one for each message.
		s.SetHTTPClient(&http.Client{Timeout: ntfy.HTTPTimeout * time.Second, Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Config.DisableTLSVerification},
		}})
	case *discord.Service:
		s.HTTPClient = once{s.HTTPClient}
	case *pagerduty.Service:
		// Its own default is lost, and nobody listens at port 0.
		s.Config.Port = cmp.Or(s.Config.Port, 443)
		s.Config.Host = cmp.Or(s.Config.Host, "events.pagerduty.com")
	}
}

// letGo closes the connections that a service would keep.
func letGo(service types.Service) {
	if s, ok := service.(interface{ GetHTTPClient() *http.Client }); ok {
		s.GetHTTPClient().CloseIdleConnections()
	}
}

// once keeps a service from sending again by itself what has brought no answer: the
// second message would not say that it may be a repetition.
type once struct{ client discord.HTTPClient }

// Do makes one request. Its error is not one by which the library knows that it could
// try again.
func (o once) Do(req *http.Request) (*http.Response, error) {
	res, err := o.client.Do(req)
	if err != nil {
		text := withoutAddress(err).Error()
		return nil, errors.New(strings.NewReplacer("connection refused", "connection was refused", "connection reset", "connection was reset").Replace(text))
	}
	return res, nil
}

// Some libraries make plain texts of errors, so what an error means is read from its
// text: these say that nothing was handed over …
var notHanded = []string{"dial tcp", "dial udp", "no such host", "was refused", "TLS handshake", "tls: ", "x509: ", "proxyconnect"}

// … and these that the message was and that no answer has come that can be read.
var noAnswer = []string{
	"EOF", "timeout", "Timeout", "deadline exceeded", "reset by peer", "broken pipe", "closed network connection", "server closed", "connection broken",
	"unmarshal", "mismatch",
}

// ofProxy finds the status by which a proxy says that it got no answer.
var ofProxy = regexp.MustCompile(`\b50[24]\b`)

// unanswered tells whether a message may have arrived although the service says that
// it has failed.
func unanswered(service types.Service, text string, err error) bool {
	says := err.Error()
	if contains(says, notHanded) {
		return false
	}
	var answered jsonclient.Error
	if errors.As(err, &answered) && answered.StatusCode/100 == 2 {
		return true // it was taken, only the answer cannot be read
	}
	return contains(says, noAnswer) || ofProxy.MatchString(says) || posts(service, text) > 1
}

func contains(text string, some []string) bool {
	for _, s := range some {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// posts returns in how many parts or to how many places a service sends a text: if
// one fails, others may have arrived.
func posts(service types.Service, text string) int {
	switch s := service.(type) {
	case *matrix.Service:
		return cmp.Or(len(s.Config.Rooms), 2) // none = all that it has joined
	case *shoutrrrtelegram.Service:
		return len(s.Config.Chats)
	case *pushbullet.Service:
		return len(s.Config.Targets)
	case *ifttt.Service:
		return len(s.Config.Events)
	case *discord.Service:
		return 1 + strings.Count(text, "\n")/discord.ChunkCount
	}
	return 1
}

// withoutAddress takes off what the errors of a library put around the cause.
func withoutAddress(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}
