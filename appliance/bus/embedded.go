package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
)

// embedded is the server in this process and its data folder.
type embedded struct {
	server *server.Server
	lock   *os.File
	guard  *guard
	log    *serverLog
	watch  *watch // from when the bus is open
	gate   *gate  // nil if the server listens nowhere
}

// startEmbedded locks the folder, looks at what stands in it and starts the
// server. Unless it is told to, it listens nowhere: connections are made inside the
// process.
func startEmbedded(b *Bus) (*embedded, error) {
	lock, err := lockData(b.opts.Data)
	if err != nil {
		return nil, err
	}
	if err := b.checkRoom(); err != nil {
		return nil, errors.Join(err, unlockData(lock))
	}
	e := &embedded{lock: lock, log: &serverLog{log: b.log, warns: b.metrics.warnings.Inc}}
	if e.guard, err = newGuard(b); err != nil {
		return nil, errors.Join(err, unlockData(lock))
	}
	if err := e.start(b); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	e.log.notify(b.fail)
	return e, nil
}

func (e *embedded) start(b *Bus) error {
	folder := filepath.Join(b.opts.Data, storeFolder)
	if err := writable(folder); err != nil {
		return err
	}
	o := b.serverOptions()
	if b.opts.Listen != nil {
		var err error
		if e.gate, err = newGate(b); err != nil {
			return err
		}
		if err := e.gate.set(o); err != nil {
			return fmt.Errorf("set up the embedded log server: %w", err)
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("set up the embedded log server: %w", err)
	}
	e.server = s
	s.SetLoggerV2(e.log, false, false, false)
	s.Start() // returns when the streams are recovered
	b.opts.started()
	if err := e.log.failed(); err != nil {
		return fmt.Errorf("start the embedded log server on %s: %w", folder, err)
	}
	if !s.JetStreamEnabled() {
		return fmt.Errorf("start the embedded log server on %s: its streams did not start; the log lines before this one say why", folder)
	}
	if e.gate != nil {
		return e.gate.open(s)
	}
	return nil
}

// serverOptions are those that stay the same while the server runs.
func (b *Bus) serverOptions() *server.Options {
	return &server.Options{
		ServerName: b.opts.ServerName,
		DontListen: true,
		NoSigs:     true,
		JetStream:  true,
		StoreDir:   b.opts.Data,
		SyncAlways: true,
		MaxPending: 256 << 20, // a follower that replays may lag a lot

		DisableJetStreamBanner: true,
		JetStreamMaxStore:      unlimited,
	}
}

// stop shuts down and waits until every file is written, then lets the folder go.
func (e *embedded) stop() error {
	e.log.complain(nil)
	e.watch.stop()
	e.gate.close()
	if e.server != nil {
		e.log.notify(nil)
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	return errors.Join(e.guard.close(), unlockData(e.lock))
}

// writable makes the folder and proves that a file can be written in it.
func writable(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make log folder %s: %w; choose a folder this user may write with -data", folder, err)
	}
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return fmt.Errorf("write to log folder %s: %w; give this user write access or choose another folder with -data", folder, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
