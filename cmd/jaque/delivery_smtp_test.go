package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mail is one that a mailServer has taken.
type mail struct {
	id     string // Message-ID without its brackets
	to     string
	repeat bool // it says that it may be a repetition
	run    int  // of the appliance
	at     time.Time
}

// mailServer is a mail server that takes every mail and answers slowly.
type mailServer struct {
	t     *testing.T
	port  int
	run   atomic.Int64                         // the run of the appliance that connects now
	delay atomic.Pointer[func() time.Duration] // before the answer to a mail

	mu    sync.Mutex // guards mails
	mails []mail
}

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{t: t, port: l.Addr().(*net.TCPAddr).Port}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn, int(s.run.Load()))
		}
	}()
	return s
}

// serve speaks just enough SMTP. A mail counts as taken when its last line is
// there, as with a server that dies before it could answer.
func (s *mailServer) serve(conn net.Conn, run int) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 test ESMTP")
	in := bufio.NewReader(conn)
	to := ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "DATA":
			say("354 go on")
			if !s.take(in, to, run) {
				return
			}
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		case "RCPT":
			to = strings.Trim(strings.SplitN(rest, ":", 2)[1], "<> ")
			say("250 ok")
		default:
			say("250 ok")
		}
	}
}

// take reads one mail and lets its sender wait; false if it did not come whole.
func (s *mailServer) take(in *bufio.Reader, to string, run int) bool {
	body := textproto.NewReader(in).DotReader()
	head, err := textproto.NewReader(bufio.NewReader(body)).ReadMIMEHeader()
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return false
	}
	m := mail{
		id: strings.Trim(head.Get("Message-ID"), "<>"), to: to, repeat: head.Get("X-Jaque-Repeat") != "",
		run: run, at: time.Now(),
	}
	s.mu.Lock()
	s.mails = append(s.mails, m)
	s.mu.Unlock()
	if wait := s.delay.Load(); wait != nil {
		time.Sleep((*wait)()) // a slow server is the point
	}
	return true
}

// slow sets how long each mail takes.
func (s *mailServer) slow(wait func() time.Duration) { s.delay.Store(&wait) }

func (s *mailServer) taken() []mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]mail(nil), s.mails...)
}

// flags are those by which the appliance sends to it.
func (s *mailServer) flags() []string {
	return []string{
		"-smtp-host", "127.0.0.1", "-smtp-port", fmt.Sprint(s.port), "-smtp-tls", "none", "-smtp-from", "jaque@test.invalid",
	}
}
