package channel

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// send sends in a world with a clock of its own and returns the error as ours.
func send(t *testing.T, s *mailServer, o EmailOptions, within time.Duration) (e *Error, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		start := time.Now()
		err := newEmail(t, s, o).Send(ctx, pageAbout("DISK CRITICAL"))
		took = time.Since(start)
		s.talks.Wait()
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%T is no *Error: %v", err, err)
		}
	})
	return e, took
}

func TestEveryFailureNamesItsStepAndWhetherToTryAgain(t *testing.T) {
	steps := []struct{ at, says string }{
		{"greeting", "greeting"},
		{"EHLO", "EHLO"},
		{"AUTH", "AUTH CRAM-MD5 as jaque"},
		{"MAIL", "MAIL FROM jaque@example.org"},
		{"RCPT", "RCPT TO alice@example.org"},
		{"DATA", "DATA"},
		{"end", "end of the mail"},
	}
	n := 0
	for _, step := range steps {
		for _, do := range []string{"hang", "drop", "drip", "flood", "421 4.3.2 too busy", "451 4.7.1 greylisted", "550 5.7.1 we do not like you", "554 5.7.1 no", "530 5.7.0 sign in first"} {
			t.Run(step.at+" "+do, func(t *testing.T) {
				s := &mailServer{at: step.at, do: do, offers: []string{"AUTH CRAM-MD5"}}
				o := EmailOptions{TLS: "none", User: "jaque", Password: func() (string, error) { return "secret", nil }}
				e, took := send(t, s, o, time.Minute)
				if e == nil {
					t.Fatal("no error")
				}
				text, says := e.Error(), step.says
				if do[0] != '4' && do[0] != '5' {
					says, _, _ = strings.Cut(says, " alice@") // only an answer is about the address
				}
				if !strings.HasPrefix(text, "mail server mail.example.org:25: "+says+": ") {
					t.Errorf("error is %q, want step %s", text, step.says)
				}
				about := step.at == "MAIL" || step.at == "RCPT" || step.at == "DATA" || step.at == "end"
				if want := about && strings.HasPrefix(do, "55"); e.Permanent != want {
					t.Errorf("permanent is %v: %s", e.Permanent, text)
				}
				if do[0] == '4' || do[0] == '5' {
					if !strings.Contains(text, "the server says") {
						t.Errorf("what the server says is missing: %s", text)
					}
				}
				lost := step.at == "end" && do[0] != '4' && do[0] != '5'
				if e.MayHaveArrived != lost || strings.Contains(text, "may have arrived") != lost {
					t.Errorf("it may have arrived is %v: %s", e.MayHaveArrived, text)
				}
				if strings.Contains(text, "alice") && do[0] != '4' && do[0] != '5' {
					t.Errorf("it is not about the address: %s", text)
				}
				if strings.Contains(text, "secret") || took > time.Minute {
					t.Errorf("after %s: %s", took, text)
				}
				if do == "hang" && step.at == "end" && (took != time.Minute || !strings.Contains(text, "1m0s")) {
					t.Errorf("gave up after %s: %s", took, text)
				}
				if do == "hang" && step.at != "end" && (took != 30*time.Second || !strings.Contains(text, "no answer within 30s")) {
					t.Errorf("gave up after %s: %s", took, text)
				}
			})
			n++
		}
	}
	t.Logf("cases: %d", n)
}

func TestAServerThatIsRudeAfterTheMailHasTheMail(t *testing.T) {
	for _, do := range []string{"hang", "drop", "500 what", "drip"} {
		s := &mailServer{at: "QUIT", do: do}
		e, took := send(t, s, EmailOptions{TLS: "none"}, time.Minute)
		if e != nil || s.mails != 1 || took > 2*time.Second {
			t.Errorf("%s: error %v, %d mails after %s", do, e, s.mails, took)
		}
	}
}

func TestEncryption(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // what synctest says it is
	good, roots := certificate(t, "mail.example.org", now.Add(24*time.Hour))
	expired, oldRoots := certificate(t, "mail.example.org", now.Add(-time.Hour))
	other, otherRoots := certificate(t, "www.example.net", now.Add(24*time.Hour))
	offer := []string{"STARTTLS"}
	tests := []struct {
		name    string
		server  *mailServer
		options EmailOptions
		want    string // in the error; "" = it is sent
	}{
		{"a good certificate is taken", &mailServer{offers: offer, tls: good}, EmailOptions{Roots: roots}, ""},
		{"nothing goes out without encryption", &mailServer{}, EmailOptions{Roots: roots}, "STARTTLS: the server does not offer encryption, so nothing is sent"},
		{"an expired certificate is refused", &mailServer{offers: offer, tls: expired}, EmailOptions{Roots: oldRoots}, "has expired"},
		{"a certificate for another name is refused", &mailServer{offers: offer, tls: other}, EmailOptions{Roots: otherRoots}, "not mail.example.org"},
		{"a certificate that nobody known has signed is refused", &mailServer{offers: offer, tls: good}, EmailOptions{Roots: otherRoots}, "certificate signed by unknown authority"},
		{"a server that refuses STARTTLS", &mailServer{offers: offer, at: "STARTTLS", do: "454 4.7.0 not now"}, EmailOptions{}, "STARTTLS: the server says"},
		{"a server that hangs at STARTTLS", &mailServer{offers: offer, at: "STARTTLS", do: "hang"}, EmailOptions{}, "STARTTLS: no answer within 30s"},
		{"a plain server on the port for TLS", &mailServer{}, EmailOptions{TLS: "tls"}, "mail.example.org:465: TLS: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := send(t, test.server, test.options, 2*time.Minute)
			switch {
			case test.want == "" && e != nil:
				t.Fatal(e)
			case test.want == "":
				return
			case e == nil || !strings.Contains(e.Error(), test.want) || e.Permanent:
				t.Errorf("error is %v, want a temporary one with %q", e, test.want)
			case test.server.mails > 0 || strings.Contains(strings.Join(test.server.said, " "), "MAIL"):
				t.Error("something was sent")
			}
		})
	}
}

func TestSignInByTheBestWayThatShowsNothing(t *testing.T) {
	good, roots := certificate(t, "mail.example.org", time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC))
	tests := []struct {
		name, offers  string
		tls, loopback bool
		want          string // the way, or what the error says
	}{
		{"PLAIN on an encrypted connection", "PLAIN LOGIN", true, false, "AUTH PLAIN AGphcXVlAHNlY3JldA=="},
		{"LOGIN where there is nothing else", "LOGIN", true, false, "AUTH LOGIN"},
		{"PLAIN before CRAM-MD5 on an encrypted connection", "CRAM-MD5 PLAIN", true, false, "AUTH PLAIN AGphcXVlAHNlY3JldA=="},
		{"SCRAM before all", "PLAIN LOGIN CRAM-MD5 SCRAM-SHA-1 SCRAM-SHA-256", true, false, "AUTH SCRAM-SHA-256"},
		{"CRAM-MD5 in the clear", "PLAIN CRAM-MD5", false, false, "AUTH CRAM-MD5"},
		{"PLAIN in the clear on this machine", "PLAIN", false, true, "AUTH PLAIN AGphcXVlAHNlY3JldA=="},
		{"no PLAIN in the clear", "PLAIN LOGIN", false, false, "everybody on the way can read"},
		{"no way that is known", "GSSAPI NTLM", true, false, "offers GSSAPI NTLM, none of which is known"},
		{"no sign-in at all", "", true, false, "offers no sign-in"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &mailServer{loopback: test.loopback}
			if test.offers != "" {
				s.offers = []string{"AUTH " + test.offers}
			}
			o := EmailOptions{TLS: "none", User: "jaque", Password: func() (string, error) { return "secret", nil }}
			if test.tls {
				s.offers, s.tls, o.TLS, o.Roots = append(s.offers, "STARTTLS"), good, "starttls", roots
			}
			e, _ := send(t, s, o, time.Minute)
			said := strings.Join(s.said, "\n")
			if e != nil {
				said += "\n" + e.Error()
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("want %q in\n%s", test.want, said)
			}
			if e != nil && (e.Permanent || strings.Contains(e.Error(), "secret")) {
				t.Errorf("permanent or with the password: %v", e)
			}
		})
	}
}

// TestAServerThatRepeatsTheSignInShowsNothing lets servers say what they were told, at
// once or behind so much that the text is cut within it.
func TestAServerThatRepeatsTheSignInShowsNothing(t *testing.T) {
	const user, password = "jaque@example.org", "SECRETPASS-smtp"
	n := 0
	for _, way := range []string{"PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-256", "SCRAM-SHA-1"} {
		for _, padding := range []int{1, 250, 260, 270, 280, 285, 288} {
			s := &mailServer{loopback: true, offers: []string{"AUTH " + way}, echo: strings.Repeat("x", padding)}
			e, _ := send(t, s, EmailOptions{TLS: "none", User: user, Password: func() (string, error) { return password, nil }}, time.Minute)
			if e == nil || e.Permanent || !strings.Contains(e.Error(), "AUTH "+way+" as "+user) {
				t.Fatalf("%s: %v", way, e)
			}
			if len(s.secrets) == 0 {
				t.Fatalf("%s: nothing was said", way)
			}
			for _, secret := range append(s.secrets, password, "SECRET") {
				for _, piece := range []string{secret, secret[:min(len(secret), 10)]} {
					if strings.Contains(e.Error(), piece) {
						t.Errorf("%s, behind %d characters: %q is in the error:\n%v", way, padding, piece, e)
					}
				}
			}
			n++
		}
	}
	t.Logf("cases: %d", n)
}

func TestAPasswordThatCannotBeReadIsTriedAgain(t *testing.T) {
	for _, password := range []func() (string, error){nil, func() (string, error) { return "", errors.New("open /etc/jaque/smtp: permission denied") }} {
		e, _ := send(t, &mailServer{offers: []string{"AUTH PLAIN"}}, EmailOptions{TLS: "none", User: "jaque", Password: password}, time.Minute)
		if e == nil || e.Permanent || !strings.Contains(e.Error(), "AUTH: ") {
			t.Errorf("error is %v", e)
		}
	}
}

func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	for _, at := range []string{"greeting", "EHLO", "DATA", "end"} {
		e, took := send(t, &mailServer{at: at, do: "hang"}, EmailOptions{TLS: "none"}, 5*time.Second)
		if e == nil || e.Permanent || took != 5*time.Second || !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Error(), " 5s") {
			t.Errorf("%s: %v after %s", at, e, took)
		}
	}
}

func TestOneRefusedRecipientKeepsTheMailFromNobodyElse(t *testing.T) {
	s := &mailServer{refuse: "bob"}
	if e, _ := send(t, s, EmailOptions{TLS: "none", To: "alice@example.org, Bob <bob@example.org>"}, time.Minute); e != nil || s.mails != 1 {
		t.Errorf("error %v, %d mails", e, s.mails)
	}
	s = &mailServer{refuse: "@example.org"}
	e, _ := send(t, s, EmailOptions{TLS: "none", To: "alice@example.org, bob@example.org"}, time.Minute)
	if e == nil || !e.Permanent || !strings.Contains(e.Error(), "bob@") || s.mails != 0 {
		t.Errorf("all refused: error %v, %d mails", e, s.mails)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	e := newEmail(t, nil, EmailOptions{TLS: "none"})
	e.o.Host, e.o.Port = "127.0.0.1", port
	var failed *Error
	if err := e.Send(t.Context(), pageAbout("x")); !errors.As(err, &failed) || failed.Permanent || !strings.Contains(err.Error(), "connect: ") {
		t.Errorf("error is %v", err)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	good := EmailOptions{Host: "mail.example.org", From: "jaque@example.org", To: "alice@example.org"}
	if e, err := NewEmail(good); err != nil || e.server() != "mail.example.org:587" {
		t.Fatalf("%v, %v", e, err)
	}
	for want, spoil := range map[string]func(*EmailOptions){
		"-smtp-host":         func(o *EmailOptions) { o.Host = "" },
		"-smtp-from":         func(o *EmailOptions) { o.From = "jaque" },
		"starttls, tls":      func(o *EmailOptions) { o.TLS = "ssl" },
		"address to send to": func(o *EmailOptions) { o.To = "alice@example.org\r\nRCPT TO:<bob@example.org>" },
	} {
		o := good
		spoil(&o)
		if _, err := NewEmail(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s in it", err, want)
		}
	}
}

// parts reads a mail as a mail program does.
func parts(t *testing.T, raw string) (*mail.Message, map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s: %v", kind, err)
	}
	found := map[string]string{}
	r := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return m, found
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(params["charset"], "utf-8") || p.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("part %v: %v", p.Header, err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		found[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
}

func TestAMailIsWhatMailProgramsExpect(t *testing.T) {
	s := &mailServer{}
	synctest.Test(t, func(t *testing.T) {
		m := pageAbout("Fläche voll\r\nBcc: everybody@example.org\r\n\r\n.\r\nQUIT")
		m.Items[0].ID, m.Root, m.Repeat = "web01!disk\r\nX-Evil: yes", "sw1", true
		if err := newEmail(t, s, EmailOptions{TLS: "none", To: `"Älice" <alice@example.org>`}).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		s.talks.Wait()
	})
	m, found := parts(t, strings.TrimSuffix(s.mail, ".\r\n"))
	for name, want := range map[string]string{
		"From": `"jaque" <jaque@example.org>`, "Date": "Mon, 30 Nov 2026 12:00:00 +0000", "Message-Id": "<m-1f0c@example.org>",
		"In-Reply-To": "<t-77aa@example.org>", "References": "<t-77aa@example.org>", "Auto-Submitted": "auto-generated",
		"X-Jaque-Object": "web01!disk X-Evil: yes", "X-Jaque-State": "CRITICAL", "X-Jaque-Kind": "PROBLEM", "X-Jaque-Requests": "1",
		"X-Jaque-Repeat": "possible", "X-Jaque-Root": "sw1", "X-Priority": "1", "Importance": "high", "Mime-Version": "1.0",
		"User-Agent": "jaque 1.0.0", "Bcc": "", "X-Evil": "",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "CRITICAL: disk X-Evil: yes on web01") {
		t.Errorf("subject is %q: %v", subject, err)
	}
	if to, err := m.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Name != "Älice" {
		t.Errorf("to %v: %v", to, err)
	}
	if !strings.Contains(found["text/plain"], "Fläche voll") || !strings.Contains(found["text/html"], "Fläche voll") || s.mails != 1 {
		t.Errorf("parts %q, %d mails", found, s.mails)
	}
	if !strings.Contains(found["text/plain"], "You may have got this before") {
		t.Error("no word that it may be a repetition")
	}
}
