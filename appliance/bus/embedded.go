package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// embedded is the server in this process and its data folder.
type embedded struct {
	server  *server.Server
	lock    *os.File
	guard   *guard
	log     *serverLog
	watch   *watch   // from when the bus is open
	gate    *gate    // nil if the server listens for no others
	peering *peering // nil if it stands alone
	door    *door    // nil if the socket in the data folder could not be made
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
	if b.opts.Cluster != nil {
		if e.peering, err = newPeering(b); err != nil {
			return nil, errors.Join(err, unlockData(lock))
		}
	} else if err = leftCluster(b); err != nil {
		return nil, errors.Join(err, unlockData(lock))
	}
	if e.guard, err = newGuard(b, e.peering); err != nil {
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
	if e.peering != nil {
		if err := e.peering.set(o, e.gate != nil); err != nil {
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
		if err := e.gate.open(s); err != nil {
			return err
		}
	}
	e.openDoor(b)
	return nil
}

// inside is the key of the connection inside this process, nil if the server asks
// nobody who he is.
func (e *embedded) inside() nkeys.KeyPair {
	switch {
	case e.gate != nil:
		return e.gate.inside
	case e.peering != nil:
		return e.peering.inside
	}
	return nil
}

// adopt takes the streams of the folder into a cluster that this start founds.
func (e *embedded) adopt(ctx context.Context, b *Bus) error {
	if e == nil || e.peering == nil || !e.peering.start.founds {
		return nil
	}
	return adopt(ctx, b.nc, b.opts.Data)
}

// serverOptions are those that stay the same while the server runs.
func (b *Bus) serverOptions() *server.Options {
	return &server.Options{
		ServerName: b.opts.ServerName,
		DontListen: true,
		NoSigs:     true,
		JetStream:  true,
		StoreDir:   b.opts.Data,
		SyncAlways: !b.opts.Bulk,
		MaxPending: 256 << 20, // a follower that replays may lag a lot

		DisableJetStreamBanner: true,
		JetStreamMaxStore:      unlimited,
	}
}

// stop shuts down and waits until every file is written, then lets the folder go.
func (e *embedded) stop() error {
	e.log.complain(nil)
	e.watch.stop()
	e.peering.close()
	e.gate.close()
	e.door.close()
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
