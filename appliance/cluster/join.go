package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/owner"
)

// Bounds of the conversation.
const (
	joinTimeout = 30 * time.Second
	mostOfJoin  = 64 << 10 // bytes of a request
	mostOfReply = 8 << 20  // bytes of an answer, which lists users
	joinPath    = "/join"
)

// joinRequest is what a machine says that wants to join.
type joinRequest struct {
	Token  string `json:"token"` // id
	Secret string `json:"secret"`
	Member Member `json:"member"`
}

// answer is what it gets: the authority, by which it can prove to all members that it
// is one, and where they are.
type answer struct {
	Error   string            `json:"error,omitempty"`
	Wait    bool              `json:"wait,omitempty"` // the error passes; the token is not used up
	Cluster string            `json:"cluster,omitempty"`
	Files   map[string][]byte `json:"files,omitempty"`  // of the cluster's authority
	Server  map[string][]byte `json:"server,omitempty"` // of the authority for clients, which all members share
	Peers   []string          `json:"peers,omitempty"`
	Users   []access.Record   `json:"users,omitempty"` // of the log server
}

// ErrRefused: the member that was asked does not let this machine in; the text says why.
var ErrRefused = errors.New("the cluster refuses")

// errLater: the member that was asked cannot let anybody in at the moment.
var errLater = errors.New("not at the moment")

// errNoDoor: nobody listens at the token's address.
var errNoDoor = errors.New("nobody listens there")

// Patience is how long Join tries again while the cluster cannot let a machine in: it has
// no quorum for a few seconds while a member that joined before is taken in.
type Patience struct {
	Most time.Duration     // 0 = it does not try again
	Tell func(what string) // is told what it waits for, whenever that changes; nil = nobody
}

const (
	joinPause = 500 * time.Millisecond
	// A member opens its door within a second after a token was given out. When nobody
	// listens for longer the token was used.
	doorMost = 5 * time.Second
)

// Join makes the data folder one of a further member, with the token of one that runs.
// The folder must not hold a log: that of the cluster takes its place. It changes
// nothing unless it succeeds.
func Join(ctx context.Context, data string, t *Token, m Member, p Patience) (*Member, error) {
	m.Cluster, m.Witness = t.Cluster, t.Witness
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if err := unused(data); err != nil {
		return nil, err
	}
	if err := ready(ctx, data, m.Listen); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	a, err := p.ask(ctx, t, &joinRequest{Token: t.ID, Secret: t.Secret, Member: m})
	if err != nil {
		return nil, fmt.Errorf("join cluster %s at %s: %w", t.Cluster, t.Address, err)
	}
	m.Cluster = a.Cluster
	m.Know(a.Peers...)
	if err := settle(data, &m, a); err != nil {
		return nil, fmt.Errorf("keep what the cluster answered: %w; the token is used up: make another one with `jaque cluster token`", err)
	}
	return &m, nil
}

// unused says why a folder cannot become a member's.
func unused(data string) error {
	switch old, err := Read(data); {
	case err == nil:
		return fmt.Errorf("join the cluster with %s: %w", data, old.already(data))
	case !errors.Is(err, ErrNone):
		return err
	}
	for _, other := range []string{"jetstream", folderName} {
		_, err := os.Stat(filepath.Join(data, other))
		switch {
		case err == nil:
			return fmt.Errorf("join the cluster with %s: there is a folder %s, perhaps another installation's log; a further member gets the log of the cluster: name an empty folder with -data", data, other)
		case !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("join the cluster with %s: %w", data, err)
		}
	}
	return nil
}

// ready says what would keep this machine from being a member, as far as that can be known
// before the token is used up: that the folder cannot be written, or that somebody here
// listens at the address already. It leaves nothing behind.
func ready(ctx context.Context, data, listen string) error {
	var made []string // folders that are missing, the deepest first
	for f := data; ; f = filepath.Dir(f) {
		if _, err := os.Lstat(f); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, f)
	}
	err := os.MkdirAll(data, 0o700)
	if err == nil {
		var fresh string
		if fresh, err = os.MkdirTemp(data, ".join-*"); err == nil {
			err = os.Remove(fresh)
		}
	}
	for _, f := range made {
		_ = os.Remove(f) // what is not empty is not ours
	}
	if err != nil {
		return fmt.Errorf("the data folder cannot be written: %w; run the command as the user of the process, or name another folder with -data", err)
	}
	ctx, cancel := context.WithTimeout(ctx, listenWait)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another process listens at %s on this machine; stop it, or write another address with -cluster-listen", listen)
	}
	return nil // an address that leads here by way of another one, perhaps
}

// listenWait bounds how long a name is looked up of which this machine makes sure that it
// is free.
const listenWait = 5 * time.Second

// ask asks until there is an answer that does not pass by itself.
func (p Patience) ask(ctx context.Context, t *Token, r *joinRequest) (*answer, error) {
	began, told := time.Now(), ""
	for {
		a, err := ask(ctx, t, r)
		most := time.Duration(0)
		switch {
		case errors.Is(err, errLater):
			most = p.Most
		case errors.Is(err, errNoDoor):
			most = min(p.Most, doorMost)
		}
		if err == nil || time.Since(began) >= most {
			return a, err
		}
		text := err.Error()
		if errors.Is(err, errNoDoor) {
			text = "nobody listens at " + t.Address + " yet; a member that runs opens its door within a second after a token was given out"
		}
		if text != told && p.Tell != nil {
			told = text
			p.Tell(text)
		}
		select {
		case <-time.After(joinPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%w)", err, ctx.Err())
		}
	}
}

// ask talks to the member that the token names. It is known by the authority that it
// shows, whatever its address.
func ask(ctx context.Context, t *Token, r *joinRequest) (*answer, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+t.Address+joinPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, // replaced by the line below
		VerifyConnection: func(s tls.ConnectionState) error { return known(s.PeerCertificates, t.Fingerprint) },
	}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	switch {
	case err != nil && !errors.Is(err, errStranger) && time.Now().After(t.Expires):
		return nil, fmt.Errorf("%w (%w)", ErrExpired, err)
	case errors.Is(err, errStranger):
		return nil, err
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w: %w; a member listens only while a token is out, so this one may have been used already: is that member running?", errNoDoor, err)
	case err != nil:
		return nil, fmt.Errorf("%w; is that member running, and can this machine reach the address? It listens there only while a token is out, so this one may have been used already", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostOfReply))
	if err != nil {
		return nil, err
	}
	a := &answer{}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, fmt.Errorf("what answers there is no member of a cluster (%s)", res.Status)
	}
	if a.Error != "" && a.Wait {
		return nil, fmt.Errorf("%w: %s", errLater, a.Error)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	if len(a.Files) == 0 || !nameForm.MatchString(a.Cluster) {
		return nil, errors.New("the answer lacks the cluster's authority")
	}
	return a, nil
}

// errStranger is told of another server than the token's, which gets no secret.
var errStranger = errors.New("the server at this address is none of the cluster that gave out the token; nothing was sent to it")

// known checks a chain of certificates against the fingerprint of an authority.
func known(chain []*x509.Certificate, fingerprint string) error {
	if len(chain) < 2 {
		return errStranger
	}
	root := chain[len(chain)-1]
	if sum := sha256.Sum256(root.Raw); hex.EncodeToString(sum[:]) != fingerprint {
		return errStranger
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
		return fmt.Errorf("%w: %w", errStranger, err)
	}
	return nil
}

// settle writes what makes the folder a member's. The settings come last: without them
// it is none.
func settle(data string, m *Member, a *answer) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	for name, files := range map[string]map[string][]byte{folderName: a.Files, "tls": a.Server} {
		if len(files) == 0 {
			continue
		}
		fresh, err := os.MkdirTemp(data, ".join-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(fresh) // nothing is there after the rename
		for file, text := range files {
			if err := replace(filepath.Join(fresh, filepath.Base(file)), text, data); err != nil {
				return err
			}
		}
		if err := os.Rename(fresh, filepath.Join(data, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if _, err := authority.OpenIn(data, folderName); err != nil {
		return err
	}
	// What cannot be kept of them comes from the members as soon as this one runs.
	_, _ = access.In(data).Merge(a.Users)
	return errors.Join(m.Save(data), owner.Like(folder(data), data))
}

// peersOf are the addresses that a further member is told of: this member's and those
// that it knows.
func (m *Member) peersOf() []string { return append([]string{m.Listen}, slices.Clone(m.Peers)...) }
