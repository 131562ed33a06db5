package target

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

// subject publishes each item by itself to a NATS server. With a stream there, each
// message is acknowledged; without, the server confirms that it has got them.
type subject struct {
	url     string
	options []nats.Option
	pattern string // {host} and {service} stand for tokens
	stream  bool
	secrets veil.Veil // takes what must not be shown out of texts
	nc      *nats.Conn
	js      jetstream.JetStream
}

func newNATS(u *Setup, s *settings) (sink.Target, error) {
	t := &subject{
		url: s.need("url", "nats://127.0.0.1:4222"), pattern: s.text("subject", "jaque.export.{host}.{service}"), stream: s.flag("jetstream", false),
		options: []nats.Option{nats.Name("jaque sink"), nats.Timeout(5 * time.Second), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)},
	}
	var secrets []string
	for _, part := range strings.Split(t.url, ",") {
		a, err := url.Parse(part)
		switch {
		case t.url == "":
		case err != nil:
			s.bad("url", `it cannot be read; write "nats://host:4222", and %%25 for a percent sign in a password, better user and password by themselves`)
		case a.Scheme != "nats" && a.Scheme != "tls" || a.Host == "":
			s.bad("url", `it is no address of a NATS server; write "nats://host:4222" or "tls://host:4222"`)
		default:
			secrets = append(secrets, secretsIn(a)...)
			if a.User != nil {
				secrets = append(secrets, a.User.Username()) // alone it is a token
			}
		}
	}
	if rest := strings.NewReplacer("{host}", "h", "{service}", "s").Replace(t.pattern); strings.ContainsAny(rest, "{}*> \t") || rest == "" ||
		strings.Contains("."+rest+".", "..") {
		s.bad("subject", `%q is none that can be published to; write "metrics.{host}.{service}"`, t.pattern)
	}
	user, password, token, file := s.text("user", ""), s.text("password", ""), s.text("token", ""), s.text("credentials", "")
	t.secrets = veil.New(append(secrets, password, token)...)
	if user != "" {
		t.options = append(t.options, nats.UserInfo(user, password))
	}
	if token != "" {
		t.options = append(t.options, nats.Token(token))
	}
	if file != "" {
		t.options = append(t.options, nats.UserCredentials(u.file(file)))
	}
	return t, nil
}

// connect connects if there is no connection, or waits for the one there is.
func (t *subject) connect() error {
	if t.nc != nil {
		if !t.nc.IsConnected() {
			return errors.New("connection to the NATS server is lost and tried again")
		}
		return nil
	}
	nc, err := nats.Connect(t.url, t.options...)
	if err != nil {
		return errors.New(t.secrets.Clean("connect to the NATS server: " + err.Error()))
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return fmt.Errorf("connect to the NATS server: %w", err)
	}
	t.nc, t.js = nc, js
	return nil
}

// Write publishes one batch.
func (t *subject) Write(ctx context.Context, b *sink.Batch) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // the client insists on an end
	defer cancel()
	if err := t.connect(); err != nil {
		return 0, err
	}
	var acks []jetstream.PubAckFuture
	put := func(m *nats.Msg) error {
		n += len(m.Data)
		if !t.stream {
			return t.nc.PublishMsg(m)
		}
		ack, err := t.js.PublishMsgAsync(m)
		acks = append(acks, ack)
		return err
	}
	for i := 0; i < b.Len() && err == nil; i++ {
		if err = put(t.message(b, i)); errors.Is(err, nats.ErrMaxPayload) {
			return n, &sink.Error{Err: fmt.Errorf("publish: %w", err), Permanent: true}
		}
	}
	if err != nil {
		return n, fmt.Errorf("publish: %w", err)
	}
	if !t.stream {
		if err := t.nc.FlushWithContext(ctx); err != nil {
			return n, fmt.Errorf("publish: %w", err)
		}
		return n, nil
	}
	return n, acknowledged(ctx, acks)
}

// acknowledged waits for the answers of the stream.
func acknowledged(ctx context.Context, acks []jetstream.PubAckFuture) error {
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) {
				err = errors.New("no stream takes the subject; make one there, or write jetstream: false")
			}
			return fmt.Errorf("publish: %w", err)
		case <-ctx.Done():
			return errors.New("publish: no acknowledgement in time")
		}
	}
	return nil
}

// message makes the message of one item. Its id lets a stream drop repetitions.
func (t *subject) message(b *sink.Batch, i int) *nats.Msg {
	m := &nats.Msg{Header: nats.Header{}}
	if len(b.Samples) > 0 {
		s := &b.Samples[i]
		m.Data = encode.Sample(nil, s)
		m.Subject = t.subject(s.Label("host"), s.Label("service"))
		return m
	}
	d := &b.Events[i]
	m.Data = d.JSON
	m.Subject = t.subject(d.Event.Object.Host(), d.Event.Object.Service())
	m.Header.Set(jetstream.MsgIDHeader, encode.DocumentID(&d.Event))
	return m
}

// subject fills in the tokens; an object without a service, and an event without an
// object, have "_" there.
func (t *subject) subject(host, service string) string {
	token := func(name string) string {
		if name == "" {
			return "_"
		}
		return object.ID(name).Token()
	}
	return strings.NewReplacer("{host}", token(host), "{service}", token(service)).Replace(t.pattern)
}

func (t *subject) Close() error {
	if t.nc != nil {
		t.nc.Close()
		t.nc = nil
	}
	return nil
}
