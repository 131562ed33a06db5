package bus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// DoorFile is the socket in the data folder through which commands of the same user
// reach the embedded server while it runs, whether it listens for others or not. Who
// may open it may do everything, as with the files beside it.
const DoorFile = "owner.sock"

// doorGreeting begins the one line that the door says before it hands the connection
// on: behind it stands the seed of a key, if the server asks who one is.
const doorGreeting = "jaque log server"

// ErrNoDoor: no process serves the data folder.
var ErrNoDoor = errors.New("no process serves the data folder")

// doorPatience bounds how long the door may take to say its line.
const doorPatience = 10 * time.Second

// door passes connections to a socket on to the server.
type door struct {
	listener net.Listener
	folder   *os.File // keeps the short name of the socket valid
	path     string
	greeting string
	log      *slog.Logger

	mu   sync.Mutex // guards open
	open map[net.Conn]bool
	done sync.WaitGroup
}

// openDoor opens the socket, if the options ask for it. Without it everything but such
// commands works.
func (e *embedded) openDoor(b *Bus) {
	if !b.opts.Door {
		return
	}
	var err error
	if e.door, err = newDoor(b.opts.Data, e.server, e.inside(), b.log); err != nil {
		b.log.Warn("commands on this machine cannot reach the log server, such as \"jaque backup -data\"", "err", err)
	}
}

// newDoor listens in the data folder, whose lock is held: what is there is left over
// from a process that was killed.
func newDoor(data string, s *server.Server, inside nkeys.KeyPair, log *slog.Logger) (*door, error) {
	d := &door{path: filepath.Join(data, DoorFile), greeting: doorGreeting, log: log, open: map[net.Conn]bool{}}
	if inside != nil {
		seed, err := inside.Seed()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", d.path, err)
		}
		d.greeting += " " + string(seed)
	}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", d.path, err)
	}
	short, folder, err := shortName(d.path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.path, err)
	}
	d.folder = folder
	if d.listener, err = net.Listen("unix", short); err == nil {
		err = os.Chmod(d.path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", d.path, err), d.closeFiles())
	}
	d.done.Go(func() { d.serve(s) })
	return d, nil
}

// socketNameMost is what fits into the name of a socket on every system.
const socketNameMost = 100

// shortName returns a name of a socket that fits: a long one goes by the open folder.
func shortName(path string) (string, *os.File, error) {
	if len(path) <= socketNameMost {
		return path, nil, nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)), folder, nil
}

func (d *door) closeFiles() error {
	var errs []error
	if d.listener != nil {
		errs = append(errs, d.listener.Close())
	}
	if d.folder != nil {
		errs = append(errs, d.folder.Close())
	}
	return errors.Join(errs...)
}

func (d *door) serve(s *server.Server) {
	for {
		outside, err := d.listener.Accept()
		if err != nil {
			return // closed
		}
		d.done.Go(func() { d.pass(outside, s) })
	}
}

// pass joins one connection with one inside the process.
func (d *door) pass(outside net.Conn, s *server.Server) {
	defer outside.Close()
	inside, err := s.InProcessConn()
	if err != nil {
		d.log.Warn("a connection to the socket of the data folder was refused", "socket", d.path, "err", err)
		return
	}
	defer inside.Close()
	d.mu.Lock()
	closing := d.open == nil
	if !closing {
		d.open[outside] = true
	}
	d.mu.Unlock()
	if closing {
		return
	}
	defer func() {
		d.mu.Lock()
		delete(d.open, outside)
		d.mu.Unlock()
	}()
	if _, err := io.WriteString(outside, d.greeting+"\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	for _, p := range [][2]net.Conn{{inside, outside}, {outside, inside}} {
		both.Go(func() {
			_, _ = io.Copy(p[0], p[1]) // an end is an end, whatever the reason
			_ = p[0].Close()
			_ = p[1].Close()
		})
	}
	both.Wait()
}

// close ends every connection and takes the socket away.
func (d *door) close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	_ = d.listener.Close()
	for c := range open {
		_ = c.Close()
	}
	d.done.Wait()
	_ = os.Remove(d.path) // the listener removes what it made; a short name it may miss
	if d.folder != nil {
		_ = d.folder.Close()
	}
}

// dialDoor connects to the process that serves a data folder. Without one the error
// wraps ErrNoDoor.
func (b *Bus) dialDoor(ctx context.Context) (*nats.Conn, error) {
	first, seed, err := knock(b.opts.Through)
	if err != nil {
		return nil, err
	}
	return b.enter(ctx, first, seed)
}

// enter makes a connection behind the open door.
func (b *Bus) enter(ctx context.Context, first net.Conn, seed string) (*nats.Conn, error) {
	opts := append(b.handlers(), nats.Timeout(dialTimeout), nats.InProcessServer(&doorway{data: b.opts.Through, first: first}))
	if seed != "" {
		mine, err := keyOption(seed)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("connect to %s: its key: %w", filepath.Join(b.opts.Through, DoorFile), err), first.Close())
		}
		opts = append(opts, mine)
	}
	nc, err := insist(ctx, func() (*nats.Conn, error) { return nats.Connect("", opts...) })
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", filepath.Join(b.opts.Through, DoorFile), err)
	}
	return nc, nil
}

func keyOption(seed string) (nats.Option, error) {
	key, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return nil, err
	}
	me, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Nkey(me, key.Sign), nil
}

// doorway makes connections through the door; the first one is there already.
type doorway struct {
	data  string
	mu    sync.Mutex // guards first
	first net.Conn
}

// InProcessConn returns a connection for the client.
func (w *doorway) InProcessConn() (net.Conn, error) {
	w.mu.Lock()
	c := w.first
	w.first = nil
	w.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, _, err := knock(w.data)
	return c, err
}

// knock opens the socket and reads the line.
func knock(data string) (net.Conn, string, error) {
	path := filepath.Join(data, DoorFile)
	short, folder, err := shortName(path)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s: %w", ErrNoDoor, data, err)
	}
	c, err := net.DialTimeout("unix", short, doorPatience)
	if folder != nil {
		err = errors.Join(err, folder.Close())
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, "", fmt.Errorf("connect to %s: %w; run the command as the user of the process", path, err)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s: %w", ErrNoDoor, data, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(doorPatience))
	in := bufio.NewReader(c)
	line, err := in.ReadString('\n')
	rest, known := strings.CutPrefix(strings.TrimSuffix(line, "\n"), doorGreeting)
	if err == nil && !known {
		err = fmt.Errorf("it says %.40q", line)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("connect to %s: %w", path, err), c.Close())
	}
	_ = c.SetReadDeadline(time.Time{})
	return &greeted{Conn: c, in: in}, strings.TrimSpace(rest), nil
}

// greeted is a connection of which some bytes were read already.
type greeted struct {
	net.Conn
	in *bufio.Reader
}

// Read reads what was read already, then from the connection.
func (g *greeted) Read(p []byte) (int, error) { return g.in.Read(p) }
