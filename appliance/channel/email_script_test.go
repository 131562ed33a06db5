package channel

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// mailServer plays a mail server that goes wrong at one step.
type mailServer struct {
	// at is the step: greeting, EHLO, STARTTLS, AUTH, MAIL, RCPT, DATA, end, QUIT.
	// do is what happens there: hang, drop, drip, flood, or an answer.
	at, do   string
	offers   []string // lines of the answer to EHLO beside the greeting
	tls      *tls.Config
	loopback bool // it looks as if it were on this machine
	refuse   string
	echo     string // what stands before what it repeats of the sign-in; "" = it lets sign in
	secrets  []string

	said  []string // what the client has said, line by line
	mail  string   // what it has sent
	mails int
	talks sync.WaitGroup // dialogues that go on
}

// here is a connection that seems to come from this machine.
type here struct{ net.Conn }

func (here) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 25} }

// dial starts a dialogue over a pipe.
func (s *mailServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.talks.Go(func() {
		defer server.Close()
		s.talk(server)
	})
	if s.loopback {
		return here{client}, nil
	}
	return client, nil
}

// spoil does what goes wrong at a step and tells whether that ends the dialogue.
func (s *mailServer) spoil(conn net.Conn, step string) (answered, over bool) {
	if step != s.at {
		return false, false
	}
	switch s.do {
	case "hang":
		io.Copy(io.Discard, conn) // until the client goes
		return true, true
	case "drop":
		return true, true
	case "drip":
		for range 10000 {
			if _, err := conn.Write([]byte("2")); err != nil {
				return true, true
			}
			time.Sleep(time.Second)
		}
	case "flood":
		for {
			if _, err := conn.Write([]byte("220-" + strings.Repeat("welcome ", 100) + "\r\n")); err != nil {
				return true, true
			}
		}
	default:
		fmt.Fprintf(conn, "%s\r\n", s.do)
		return true, false
	}
	return true, true
}

func (s *mailServer) talk(conn net.Conn) {
	answered, over := s.spoil(conn, "greeting")
	if over {
		return
	}
	if !answered {
		fmt.Fprint(conn, "220 mail.example.org ready\r\n")
	}
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.said = append(s.said, line)
		verb, _, _ := strings.Cut(line, " ")
		if verb == "HELO" && s.at == "EHLO" {
			verb = s.at // what is asked after a refused EHLO
		}
		if answered, over := s.spoil(conn, strings.ToUpper(verb)); over {
			return
		} else if answered {
			continue
		}
		switch strings.ToUpper(verb) {
		case "EHLO":
			fmt.Fprintf(conn, "250-mail.example.org\r\n")
			for _, o := range s.offers {
				fmt.Fprintf(conn, "250-%s\r\n", o)
			}
			fmt.Fprint(conn, "250 HELP\r\n")
		case "STARTTLS":
			fmt.Fprint(conn, "220 go ahead\r\n")
			secured := tls.Server(conn, s.tls)
			if secured.Handshake() != nil {
				return
			}
			conn, in = secured, bufio.NewReader(secured)
		case "AUTH":
			if s.echo == "" {
				fmt.Fprint(conn, "235 welcome\r\n")
				continue
			}
			s.repeat(conn, in, line)
		case "RCPT":
			if s.refuse != "" && strings.Contains(line, s.refuse) {
				fmt.Fprint(conn, "550 5.1.1 nobody of that name\r\n")
				continue
			}
			fmt.Fprint(conn, "250 ok\r\n")
		case "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			var mail strings.Builder
			for line != ".\r\n" {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
				mail.WriteString(line)
			}
			s.mail, s.mails = mail.String(), s.mails+1
			if answered, over := s.spoil(conn, "end"); over {
				return
			} else if !answered {
				fmt.Fprint(conn, "250 queued\r\n")
			}
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

// certificate makes a certificate for a name, valid until a time, and who trusts it.
func certificate(t *testing.T, name string, until time.Time) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	// Tickets are written when nobody reads, and a pipe holds nothing.
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, SessionTicketsDisabled: true}, roots
}

// page is a message about a disk.
func pageAbout(output string) *message.Message {
	h := &object.Object{ID: "web01", Name: "web01", Address: "192.0.2.11", Rule: &object.Rule{}}
	o := &object.Object{ID: "web01!disk", Name: "disk", Host: h, Rule: &object.Rule{}}
	now := object.At(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	return &message.Message{
		ID: "m-1f0c", Thread: "t-77aa", Contact: &object.Contact{Name: "alice"}, Channel: "email", URL: "https://jaque.example.org", Version: "1.0.0", Now: now,
		Items: []message.Item{{
			ID: o.ID, Object: o, Kind: "PROBLEM", Number: 1, Time: now, Since: now.Add(-12 * time.Minute), Measure: &event.Measure{Output: output},
			Status: &event.Status{State: object.Critical, Checked: true, Attempt: 3, MaxAttempts: 3},
		}},
	}
}

func newEmail(t *testing.T, s *mailServer, o EmailOptions) *Email {
	t.Helper()
	o.Host, o.From = "mail.example.org", "jaque <jaque@example.org>"
	if o.To == "" {
		o.To = "alice@example.org"
	}
	e, err := NewEmail(o)
	if err != nil {
		t.Fatal(err)
	}
	if s != nil {
		e.dialer = s.dial
	}
	return e
}

// repeat refuses a sign-in and says what it was told.
func (s *mailServer) repeat(conn net.Conn, in *bufio.Reader, line string) {
	words := strings.Fields(line)
	said := words[2:]
	for _, ask := range map[string][]string{
		"LOGIN": {"Username:", "Password:"}, "SCRAM-SHA-256": {""}, "SCRAM-SHA-1": {""}, "CRAM-MD5": {"<1.2@mail.example.org>"},
	}[words[1]] {
		fmt.Fprintf(conn, "334 %s\r\n", base64.StdEncoding.EncodeToString([]byte(ask)))
		answer, err := in.ReadString('\n')
		if err != nil {
			return
		}
		said = append(said, strings.TrimSpace(answer))
	}
	s.secrets = said[len(said)-1:]
	fmt.Fprintf(conn, "535 5.7.8 %s %s is wrong\r\n", s.echo, s.secrets[0])
}
