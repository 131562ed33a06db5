package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/authority"
)

// Door lets machines join while tokens are out, and listens only then. It runs beside a
// member's server.
type Door struct {
	// Data is the member's data folder.
	Data string
	// Members returns the ids of the cluster's members at present.
	Members func(context.Context) ([]string, error)
	// Standing tells what the members know of an id and an address; nil = nothing.
	Standing func(ctx context.Context, id, address string) Standing
	// Joined is told of a machine that was let in; it may be nil.
	Joined func(Member)
	Logger *slog.Logger

	// one is held while a machine is judged and let in: of two that want one id at the
	// same moment the second one is to find the first.
	one sync.Mutex
}

// Standing is what the members know that concerns a machine which wants to join.
type Standing struct {
	Barred   time.Duration // for how long its id cannot come back yet, which was taken out
	Admitted string        // where the machine listens that was let in with its id and has not started yet; "" = there is none
	Holder   string        // member that runs and has the address that it names; "" = none
}

// lookForTokens is how often the folder is looked at.
const lookForTokens = time.Second

// Run answers until ctx ends. An address that cannot be listened on is told of in the
// log and tried again: it keeps nobody from working.
func (d *Door) Run(ctx context.Context, ready func()) error {
	ready()
	open := map[string]*http.Server{}
	defer func() {
		for _, s := range open {
			_ = s.Close() // the process ends
		}
	}()
	told := ""
	for {
		wanted, err := waiting(d.Data, time.Now())
		for address := range wanted {
			if open[address] == nil && err == nil {
				open[address], err = d.listen(ctx, address)
			}
			if open[address] == nil {
				delete(open, address)
			}
		}
		for address, s := range open {
			if !wanted[address] {
				end, cancel := context.WithTimeout(ctx, joinTimeout)
				_ = s.Shutdown(end) // its listener is closed in any case
				cancel()
				delete(open, address)
			}
		}
		if text := fmt.Sprint(err); err != nil && text != told {
			told = text
			d.Logger.Warn("nobody can join the cluster here", "err", err)
		} else if err == nil {
			told = ""
		}
		select {
		case <-time.After(lookForTokens):
		case <-ctx.Done():
			return nil
		}
	}
}

func (d *Door) listen(ctx context.Context, address string) (*http.Server, error) {
	a, err := Authority(d.Data)
	if err != nil {
		return nil, err
	}
	secure, err := a.Peer(authority.ServerName)
	if err != nil {
		return nil, err
	}
	secure.ClientAuth, secure.ClientCAs = tls.NoClientCert, nil // who joins has the token
	root, _ := pem.Decode(a.PEM())
	leaf := secure.GetCertificate
	secure.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := leaf(h)
		if err != nil {
			return nil, err
		}
		with := *c
		with.Certificate = append([][]byte{c.Certificate[0]}, root.Bytes)
		return &with, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for machines that join: %w", err)
	}
	s := &http.Server{
		Handler: http.HandlerFunc(d.serve), TLSConfig: secure, ReadTimeout: joinTimeout, WriteTimeout: joinTimeout, MaxHeaderBytes: 8 << 10,
		ErrorLog: slog.NewLogLogger(d.Logger.Handler(), slog.LevelDebug),
	}
	d.Logger.Info("a token is out, machines can join the cluster", "address", address)
	go func() {
		if err := s.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			d.Logger.Warn("machines cannot join the cluster any more", "address", address, "err", err)
		}
	}()
	return s, nil
}

func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != joinPath {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostOfJoin))
	var ask joinRequest
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil {
		http.Error(w, "no request of a machine that joins", http.StatusBadRequest)
		return
	}
	a, err := d.admit(r.Context(), &ask)
	status := http.StatusOK
	switch {
	case errors.Is(err, errLater):
		d.Logger.Info("a machine that wants to join the cluster has to wait", "member", ask.Member.ID, "from", r.RemoteAddr, "err", err)
		a, status = &answer{Error: err.Error(), Wait: true}, http.StatusServiceUnavailable
	case err != nil:
		d.Logger.Warn("a machine was not let into the cluster", "member", ask.Member.ID, "from", r.RemoteAddr, "err", err)
		a, status = &answer{Error: err.Error()}, http.StatusForbidden
	default:
		d.Logger.Info("a machine was let into the cluster", "member", ask.Member.ID, "address", ask.Member.Listen, "from", r.RemoteAddr, "witness", ask.Member.Witness)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // who is gone asks for another token
}

// admit judges a request. Without the token nobody learns anything; a mistake that can
// be mended does not use it up.
func (d *Door) admit(ctx context.Context, r *joinRequest) (*answer, error) {
	me, err := Read(d.Data)
	if err != nil {
		return nil, err
	}
	k, err := look(d.Data, r.Token, r.Secret, time.Now())
	if err != nil {
		return nil, err
	}
	d.one.Lock()
	defer d.one.Unlock()
	if err := d.fits(ctx, me, &r.Member, k); err != nil {
		return nil, err
	}
	a, err := d.bundle(me)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("it does not wait for the answer any more: %w", err)
	}
	if err := use(d.Data, r.Token); err != nil {
		return nil, err
	}
	if d.Joined != nil {
		d.Joined(r.Member)
	}
	return a, nil
}

// fits says why a machine cannot be a member.
func (d *Door) fits(ctx context.Context, me, other *Member, k *kept) error {
	if other.Cluster != me.Cluster {
		return fmt.Errorf("this is cluster %s, not %s", me.Cluster, other.Cluster)
	}
	if err := other.check(); err != nil {
		return err
	}
	if k.Witness != other.Witness {
		return errors.New("the token is for another kind of member; make one with or without -witness")
	}
	ids, err := d.Members(ctx)
	if err != nil {
		return fmt.Errorf("the members are not known at present: %w; %w", err, errLater)
	}
	// Case does not count: people do not tell such names from each other.
	if i := slices.IndexFunc(append(ids, me.ID), func(id string) bool { return strings.EqualFold(id, other.ID) }); i >= 0 {
		id := append(ids, me.ID)[i]
		return fmt.Errorf("there is a member %s already; choose another id with -engine-id, or take the old one out with `jaque cluster remove %s`", id, id)
	}
	if strings.EqualFold(other.Listen, me.Listen) {
		return taken(me.ID, other.Listen)
	}
	if d.Standing == nil {
		return nil
	}
	st := d.Standing(ctx, other.ID, other.Listen)
	switch {
	case st.Admitted != "" && st.Admitted != other.Listen:
		return fmt.Errorf("a machine at %s was let in as %s less than an hour ago and has not started yet; start it, choose another id with -engine-id, or give this machine that address with -cluster-listen", st.Admitted, other.ID)
	case st.Holder != "":
		return taken(st.Holder, other.Listen)
	}
	return st.barred(other.ID)
}

// taken is the error for the address of another member.
func taken(id, address string) error {
	return fmt.Errorf("the address %s is that of member %s; write where the others reach this machine with -cluster-listen", address, id)
}

// barWait is how much of the time may be left for a machine to wait at the door.
const barWait = 25 * time.Second

// barred is an error while a name that was taken out cannot come back.
func (s Standing) barred(id string) error {
	if s.Barred <= 0 {
		return nil
	}
	err := fmt.Errorf("a member %s was taken out less than five minutes ago, and the name cannot come back before %s; join then, with the same token, or choose another id with -engine-id",
		id, time.Now().Add(s.Barred).UTC().Truncate(time.Second).Add(time.Second).Format("15:04:05 MST"))
	if s.Barred <= barWait {
		return fmt.Errorf("%w; %w", err, errLater)
	}
	return err
}

// bundle is what makes a machine a member.
func (d *Door) bundle(me *Member) (*answer, error) {
	own, err := Authority(d.Data)
	if err != nil {
		return nil, err
	}
	clients, err := authority.Open(d.Data)
	if err != nil {
		return nil, err
	}
	a := &answer{Cluster: me.Cluster, Peers: me.peersOf()}
	if a.Files, err = own.Files(); err != nil {
		return nil, err
	}
	if a.Server, err = clients.Files(); err != nil {
		return nil, err
	}
	if a.Users, err = access.In(d.Data).Records(); err != nil {
		d.Logger.Warn("a further member learns the users of the log server from others", "err", err)
	}
	return a, nil
}
