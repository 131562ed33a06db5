package channel

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// ChatOptions say where a chat or on-call service is.
type ChatOptions struct {
	Address  string            // "slack://…", "ntfy://…": the notation of shoutrrr
	Template *message.Template // nil = ChatTemplate
}

// chat hands messages to a service of shoutrrr. Its services know no context, so
// one message is under way at a time, and they keep what they were sent with, so
// each message gets a service of its own.
type chat struct {
	address  string
	name     string
	signedIn types.Service // of those that sign in; nil before the first message and after a failure
	template *message.Template
	kind     chatKind
	slot     chan struct{} // holds a token while a message is under way
	late     late
	what     string
	veil     veil.Veil
}

// chatKind is what we know of a service.
type chatKind struct {
	limit  int  // bytes of text that it takes whole, with some room for what it adds
	titled bool // it shows a title of its own
}

// kindsOfChat are the services that take more or less than others or show a title.
var kindsOfChat = map[string]chatKind{
	"bark": {3000, true}, "discord": {1900, true}, "gotify": {8000, true}, "join": {3000, true}, "lark": {3500, true}, "ntfy": {3900, true}, "opsgenie": {10000, true}, "pushbullet": {8000, true},
	"pushover": {1000, true}, "slack": {3000, true}, "teams": {10000, true}, "pagerduty": {1000, false}, "signal": {1900, false},
	"wecom": {2000, false}, "zulip": {9000, false},
}

// signsIn are services that ask their server already when they are made.
var signsIn = map[string]bool{"matrix": true}

// notForChat are services of shoutrrr that are no way to a person here, and what to
// write instead.
var notForChat = map[string]string{
	"logger": "it would only write a log; take it out",
	"smtp":   "write email: instead, whose mails are threaded and have an HTML part",
	// It takes a redirect for success.
	"generic": "write webhook: instead, which signs what it sends and heeds the answer",
}

// CheckChat tells what is wrong with an address, nil if nothing is seen. It opens no
// connection, and its error does not show the address.
func CheckChat(address string) error {
	_, err := NewChat(ChatOptions{Address: address})
	return err
}

// NewChat returns the channel to one address.
func NewChat(o ChatOptions) (Channel, error) {
	name, _, ok := strings.Cut(o.Address, ":")
	if !ok || name == "" {
		return nil, errors.New(`chat: the address names no service; write it as "slack://…", "ntfy://…" or another that the guide lists`)
	}
	name, _, _ = strings.Cut(name, "+")
	name = strings.ToLower(name)
	if why := notForChat[name]; why != "" {
		return nil, fmt.Errorf("chat: %s is no service for people: %s", name, why)
	}
	var r router.ServiceRouter
	if _, err := r.NewService(name); err != nil {
		return nil, errors.New("chat: the service of the address is not known; write one of " + strings.Join(chatNames(), ", ") + " before the colon")
	}
	v := veil.New(ofChat(o.Address)...)
	err := checkService(name, o.Address)
	if err != nil {
		why := withoutAddress(err).Error()
		if _, ok := err.(ownWords); !ok {
			why = v.Clean(why)
		}
		return nil, fmt.Errorf("chat: %s cannot use the address: %s", name, why)
	}
	if o.Template, err = orChat(o.Template, "chat"); err != nil {
		return nil, err
	}
	kind, ok := kindsOfChat[name]
	if !ok {
		kind.limit = 3000
	}
	return &chat{
		address: o.Address, name: name, template: o.Template, kind: kind, slot: make(chan struct{}, 1), what: "chat " + name, veil: v,
	}, nil
}

// chatNames lists the services that can be named, sorted.
func chatNames() []string {
	var r router.ServiceRouter
	names := slices.DeleteFunc(r.ListServices(), func(name string) bool { return notForChat[name] != "" })
	slices.Sort(names)
	return names
}

// Send hands one message to the service and waits for it until ctx ends.
func (c *chat) Send(ctx context.Context, m *message.Message) error {
	words, err := message.Render(m, c.template)
	if err != nil {
		return failed(c.what, c.veil, &Error{Err: err, Permanent: true})
	}
	select {
	case c.slot <- struct{}{}:
	case <-ctx.Done():
		return failed(c.what, c.veil, errors.New("the message before this one is still under way"))
	}
	if c.late.arrived(m.ID) {
		<-c.slot
		return nil
	}
	text, params := c.words(words)
	done := make(chan error, 1)
	go func() {
		defer func() { <-c.slot }()
		err := c.hand(text, params)
		c.late.ended(m.ID, err)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = &Error{Err: errors.New("no answer in time"), MayHaveArrived: true}
	}
	if err != nil {
		return failed(c.what, c.veil, err)
	}
	c.late.arrived(m.ID)
	return nil
}

// hand calls the service. One that panics costs one attempt.
func (c *chat) hand(text string, params types.Params) (err error) {
	service, err := c.service()
	if err != nil {
		return &Error{Err: fmt.Errorf("cannot sign in: %w", withoutAddress(err))}
	}
	defer letGo(service)
	defer func() {
		if err != nil {
			c.signedIn = nil // the sign-in may be what the server does not take any more
		}
	}()
	defer guard(&err)
	if err := service.Send(text, &params); err != nil {
		return &Error{Err: withoutAddress(err), MayHaveArrived: unanswered(service, text, err)}
	}
	return nil
}

// service returns what takes the next message.
func (c *chat) service() (types.Service, error) {
	if c.signedIn != nil {
		return c.signedIn, nil
	}
	service, err := newService(c.address)
	if err == nil && signsIn[c.name] {
		c.signedIn = service
	}
	return service, err
}

// words returns what the service is given.
func (c *chat) words(w message.Rendered) (string, types.Params) {
	subject, text := chatWords(w)
	params := types.Params{}
	if c.kind.titled {
		params.SetTitle(subject)
	} else {
		text = strings.Trim(subject+"\n"+text, "\n")
	}
	if text == "" {
		text = subject // services refuse an empty text
	}
	return cut(text, c.kind.limit, func(s string) int { return len(s) }, leftOut), params
}

// late knows which message has arrived after nobody waited for it any more.
type late struct {
	mu sync.Mutex // guards id
	id string
}

// ended notes what became of a message.
func (l *late) ended(id string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.id = id
	}
}

// arrived tells whether a message has, and forgets it.
func (l *late) arrived(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == "" || l.id != id {
		return false
	}
	l.id = ""
	return true
}

// plainWords stand in the addresses of many services and are no secrets.
var plainWords = map[string]bool{
	"hook": true, "webhook": true, "token": true, "http": true, "https": true, "true": true, "false": true, "channel": true,
	"json": true, "rooms": true, "send": true, "message": true, "title": true, "default": true,
}

// ofChat returns what of the address of a chat is secret: all of it but the name of
// the service, and the parts that services put together in another way.
func ofChat(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	secrets := append(veil.OfURL(address), rest)
	if u, err := url.Parse(address); err == nil {
		secrets = append(secrets, u.Host, u.Hostname())
	}
	for _, text := range append(secrets[1:], strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/@:?&=", r) })...) {
		secrets = append(secrets, text)
		for _, word := range strings.FieldsFunc(text, notAlphanumeric) {
			if len(word) >= 6 {
				secrets = append(secrets, word)
			}
		}
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return plainWords[strings.ToLower(strings.Trim(s, "/:@"))] })
}

func notAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
