package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"jaque.sh/jaque/appliance/service"
)

// Time-outs of the server. Answers may stream for as long as they like, so
// writing has none.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	drainPause    = 300 * time.Millisecond // until requests that stream are ended
	drainTimeout  = 5 * time.Second        // until all others are cut off
	maxHeader     = 64 << 10
)

// Server is an open listener that can be served.
type Server struct {
	l       net.Listener
	log     *slog.Logger
	handler atomic.Pointer[http.Handler]

	// Of what serves, nil before it does.
	srv    *http.Server
	failed chan error // capacity 1: why it ended
	end    func()     // the contexts of running requests
}

// Open opens the address; port 0 takes any free one. The error of an address
// that is in use or not allowed names the flag that changes it.
func Open(ctx context.Context, address, flag string, logger *slog.Logger) (*Server, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, explain(err, flag))
	}
	return &Server{l: l, log: logger}, nil
}

// explain adds what to do about an error of listening.
func explain(err error, flag string) error {
	cause := err
	var op *net.OpError
	if errors.As(err, &op) {
		cause = op.Err
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another process uses this address; stop it or choose another with %s: %w", flag, syscall.EADDRINUSE)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("ports below 1024 need a privilege; choose another with %s: %w", flag, syscall.EACCES)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no such address; choose another with %s: %w", flag, syscall.EADDRNOTAVAIL)
	}
	return fmt.Errorf("choose another with %s: %w", flag, cause)
}

// Addr returns the address that is listened on, with the real port.
func (s *Server) Addr() string { return s.l.Addr().String() }

// Close gives the listener up; only for a server whose service was never run.
func (s *Server) Close() error {
	if s.srv == nil {
		return s.l.Close()
	}
	s.end()
	return s.srv.Close()
}

// Early serves a handler from now on until the service takes over with its own, for
// what can be said while the process is not put together yet. It is called once, before
// the service runs.
func (s *Server) Early(h http.Handler) {
	s.handler.Store(&h)
	s.begin(context.Background())
}

// begin serves whatever the handler is.
func (s *Server) begin(ctx context.Context) {
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end, s.failed = end, make(chan error, 1)
	s.srv = &http.Server{
		Handler:        boundBodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) })),
		MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	go func() { s.failed <- s.srv.Serve(s.l) }()
}

// Service returns the part of the process that serves a handler. When it is told
// to stop it accepts nothing more, gives running requests a moment, ends the
// contexts of those that remain, which are the streams, and at last cuts off.
func (s *Server) Service(name string, h http.Handler, needs ...string) service.Service {
	return service.Service{Name: name, Needs: needs, Run: func(ctx context.Context, ready func()) error {
		s.handler.Store(&h)
		if s.srv == nil {
			s.begin(ctx)
		}
		defer s.end()
		s.log.Info("serving http", "address", s.Addr())
		ready()
		select {
		case err := <-s.failed:
			return fmt.Errorf("serve http on %s: %w", s.Addr(), err)
		case <-ctx.Done():
		}
		defer time.AfterFunc(drainPause, s.end).Stop()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if err := s.srv.Shutdown(end); err != nil {
			return s.srv.Close()
		}
		return nil
	}}
}

// boundBodies bounds the time a body may take. A read time-out of the whole
// server would also end requests that stream their answer.
func boundBodies(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// A writer that cannot do this has no connection to protect.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		h.ServeHTTP(w, r)
	})
}
