package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// patient waits for a door that has just closed behind the token before.
var patient = Patience{Most: doorMost}

// founded makes a first member whose door is open, and returns its folder and a token.
func founded(t *testing.T, ids ...string) (data string, give func(witness bool) *Token) {
	t.Helper()
	data = t.TempDir()
	if err := Found(data, Member{Cluster: "site", ID: "a", Listen: "10.0.0.1:4248", Peers: []string{"10.0.0.9:4248"}}); err != nil {
		t.Fatal(err)
	}
	d := &Door{Data: data, Members: func(context.Context) ([]string, error) { return ids, nil }, Logger: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx, func() {}) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	address := listentest.Address(t)
	return data, func(witness bool) *Token {
		token, err := NewToken(data, address, witness, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			c, err := net.Dial("tcp", address)
			if err == nil {
				_ = c.Close()
				return token
			}
			if time.Since(began) > 20*time.Second {
				t.Fatal(err)
			}
		}
	}
}

func TestAMachineJoinsWithAToken(t *testing.T) {
	t.Parallel()
	first, give := founded(t, "a")
	token, err := ParseToken(give(false).String())
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "new", "folder")
	if _, err := Join(t.Context(), data, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); err != nil {
		t.Fatal(err)
	}
	m, err := Read(data)
	if err != nil || m.Cluster != "site" || m.ID != "b" || strings.Join(m.Peers, " ") != "10.0.0.1:4248 10.0.0.9:4248" {
		t.Errorf("the new member is %+v, %v", m, err)
	}
	for _, file := range []string{"cluster/ca.key", "tls/ca.key", "cluster/member.json"} {
		info, err := os.Stat(filepath.Join(data, file))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	shake(t, first, data)
	if _, err := Join(t.Context(), t.TempDir(), token, Member{ID: "c", Listen: "10.0.0.3:4248"}, patient); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "used already") {
		t.Errorf("the token a second time: %v", err)
	}
}

// shake makes a connection between two members in both directions.
func shake(t *testing.T, folders ...string) {
	t.Helper()
	var sides []*tls.Config
	for i, data := range folders {
		a, err := Authority(data)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Peer(fmt.Sprint("member", i))
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, c)
	}
	for i := range sides {
		server, client := sides[i], sides[1-i].Clone()
		client.ServerName = fmt.Sprint("member", i)
		x, y := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- tls.Server(x, server).Handshake() }()
		if err := errors.Join(tls.Client(y, client).Handshake(), <-ended); err != nil {
			t.Errorf("member %d does not know the other: %v", i, err)
		}
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	t.Parallel()
	data, give := founded(t, "a", "b")
	stranger, _ := founded(t)
	for name, c := range map[string]struct {
		change func(*Token, *Member)
		want   string
	}{
		"another secret":                 {func(k *Token, _ *Member) { k.Secret = "guessed" }, "used already, or was never given out"},
		"another token":                  {func(k *Token, _ *Member) { k.ID = "../member" }, "used already, or was never given out"},
		"the id of a member":             {func(_ *Token, m *Member) { m.ID = "b" }, "there is a member b already"},
		"the id of the one asked":        {func(_ *Token, m *Member) { m.ID = "a" }, "there is a member a already"},
		"the address of the one asked":   {func(_ *Token, m *Member) { m.Listen = "10.0.0.1:4248" }, "the address 10.0.0.1:4248 is that of member a"},
		"an address that is in use here": {func(k *Token, m *Member) { m.Listen = k.Address }, "another process listens at"},
		"another cluster":                {func(k *Token, _ *Member) { k.Cluster = "other" }, "this is cluster site, not other"},
		"a witness":                      {func(k *Token, _ *Member) { k.Witness = true }, "another kind of member"},
		"an address nobody can reach":    {func(_ *Token, m *Member) { m.Listen = ":4248" }, "must find this machine"},
		"another authority": {func(k *Token, _ *Member) {
			a, err := Authority(stranger)
			if err != nil {
				t.Fatal(err)
			}
			k.Fingerprint = a.Fingerprint()
		}, "none of the cluster that gave out the token"},
		"an expired token": {func(k *Token, _ *Member) {
			old, err := NewToken(data, k.Address, false, time.Now().Add(time.Second-TokenLife))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(old.Expires) + time.Millisecond)
			k.ID, k.Secret = old.ID, old.Secret
		}, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			token, m := give(false), Member{ID: "c", Listen: "10.0.0.3:4248"}
			right := *token
			c.change(token, &m)
			empty := t.TempDir()
			_, err := Join(t.Context(), empty, token, m, patient)
			if err == nil || !strings.Contains(err.Error(), c.want) && !(name == "an expired token" && strings.Contains(err.Error(), "used already")) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(empty); len(left) > 0 {
				t.Errorf("%d files were left behind", len(left))
			}
			// What was wrong did not use the token up.
			if _, err := Join(t.Context(), t.TempDir(), &right, Member{ID: "c", Listen: "10.0.0.3:4248"}, patient); err != nil {
				t.Errorf("the right one afterwards: %v", err)
			}
		})
	}
}

// The folder is looked at before the token is used, and stays as it was.
func TestWhoCannotKeepTheAnswerDoesNotAsk(t *testing.T) {
	t.Parallel()
	_, give := founded(t, "a")
	token := give(false)
	parent := t.TempDir()
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "below")} {
		if _, err := Join(t.Context(), data, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); err == nil {
			t.Errorf("it joins with %s", data)
		}
	}
	deep := filepath.Join(parent, "new", "folder")
	if _, err := Join(t.Context(), deep, token, Member{ID: "a", Listen: "10.0.0.2:4248"}, patient); !errors.Is(err, ErrRefused) {
		t.Errorf("the id of a member: %v", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("%v was left behind, %v", left, err)
	}
	if _, err := Join(t.Context(), deep, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); err != nil {
		t.Errorf("the right one afterwards: %v", err)
	}
}

func TestOfTwoWithOneTokenOneJoins(t *testing.T) {
	t.Parallel()
	_, give := founded(t)
	for range 5 {
		token := give(true)
		var in atomic.Int32
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				_, err := Join(t.Context(), t.TempDir(), token, Member{ID: fmt.Sprint("m", i), Listen: "10.0.0.3:4248"}, patient)
				if err == nil {
					in.Add(1)
				}
			})
		}
		all.Wait()
		if in.Load() != 1 {
			t.Fatalf("%d machines joined with one token", in.Load())
		}
	}
}

func TestAFolderThatIsInUseStaysAsItIs(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	if err := os.Mkdir(filepath.Join(used, "jetstream"), 0o700); err != nil {
		t.Fatal(err)
	}
	token := &Token{Cluster: "site", Address: "127.0.0.1:1", ID: "x", Secret: "y"}
	if _, err := Join(t.Context(), used, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); err == nil || !strings.Contains(err.Error(), "name an empty folder") {
		t.Errorf("a folder with a log: %v", err)
	}
	first := Member{Cluster: "site", ID: "a", Listen: "10.0.0.1:4248"}
	member := t.TempDir()
	if err := Found(member, first); err != nil {
		t.Fatal(err)
	}
	if err := Found(member, Member{Cluster: "other", ID: "a", Listen: "10.0.0.1:4248"}); !errors.Is(err, ErrMember) || !strings.Contains(err.Error(), "start it with jaque -data "+member) {
		t.Errorf("a second cluster in one folder: %v", err)
	}
	if _, err := Join(t.Context(), member, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); !errors.Is(err, ErrMember) {
		t.Errorf("a member joins: %v", err)
	}
	if m, err := Read(member); err != nil || m.Cluster != "site" {
		t.Errorf("the member is %+v, %v", m, err)
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestSettingsThatCannotWork(t *testing.T) {
	for name, m := range map[string]Member{
		"no name":                      {ID: "a", Listen: "h:1"},
		"a name with a blank":          {Cluster: "a b", ID: "a", Listen: "h:1"},
		"no id":                        {Cluster: "c", Listen: "h:1"},
		"no port":                      {Cluster: "c", ID: "a", Listen: "h"},
		"any port":                     {Cluster: "c", ID: "a", Listen: "h:0"},
		"every address":                {Cluster: "c", ID: "a", Listen: "0.0.0.0:4248"},
		"a peer without a port":        {Cluster: "c", ID: "a", Listen: "h:1", Peers: []string{"b"}},
		"a folder's way as an id":      {Cluster: "c", ID: "../a", Listen: "h:1"},
		"a name of the longest and on": {Cluster: strings.Repeat("c", 65), ID: "a", Listen: "h:1"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if err := Found(data, m); err == nil {
				t.Errorf("%+v is taken", m)
			}
			if left, _ := os.ReadDir(data); len(left) > 0 {
				t.Errorf("%d files were made", len(left))
			}
		})
	}
	m := Member{Listen: "a:1", Peers: []string{"c:1"}}
	if !m.Know("b:1", "a:1", "c:1") || m.Know("b:1") || strings.Join(m.Peers, " ") != "b:1 c:1" {
		t.Errorf("it knows %v", m.Peers)
	}
}

func FuzzParseToken(f *testing.F) {
	good := (&Token{Cluster: "c", Address: "h:1", ID: "i", Secret: "s"}).String()
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(tokenPrefix + "AAAAAA")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err != nil {
			if !errors.Is(err, ErrToken) {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		again, err := ParseToken(token.String())
		if err != nil || again.Secret != token.Secret || again.Address != token.Address {
			t.Errorf("%q becomes %+v, %v", s, again, err)
		}
	})
}
