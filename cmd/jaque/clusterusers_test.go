package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/appliance/bus"
)

var listens = regexp.MustCompile(`"log server listens","address":"([^"]+)"`)

// dial connects with a file of credentials to where a member listens for other
// processes. Reconnecting is none: a user that is gone stays out.
func (x *clusterRig) dial(id string, c *credential.Credentials) (*bus.Bus, error) {
	at := listens.FindStringSubmatch(x.members[id].log())
	if at == nil {
		x.t.Fatalf("%s does not listen:\n%s", id, x.members[id].log())
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	b, err := bus.Open(ctx, bus.Options{URL: "tls://" + at[1], Bare: true, Credentials: c, Inbox: c.Inbox()})
	if err == nil {
		x.t.Cleanup(func() { _ = b.Close(context.Background()) })
	}
	return b, err
}

// refused tells whether a member does not know the user.
func (x *clusterRig) refused(id string, c *credential.Credentials) bool {
	b, err := x.dial(id, c)
	if err == nil {
		_ = b.Close(context.Background())
	}
	return err != nil && strings.Contains(err.Error(), "made for another server or revoked")
}

// atOnce has two members make a user of one name at once: one of them counts, and who
// made the other one learns that.
func (x *clusterRig) atOnce(name, one, other string) {
	x.t.Helper()
	type made struct {
		code int
		errs string
		file string
	}
	results := make(chan made, 2)
	for _, id := range []string{one, other} {
		file := filepath.Join(x.t.TempDir(), id+".creds")
		cmd := command(x.t, "credentials", "ui", "-id", name, "-data", x.data[id], "-out", file)
		go func() {
			code, _, errs := finish(x.t, cmd)
			results <- made{code, errs, file}
		}()
	}
	good := 0
	for range 2 {
		m := <-results
		_, err := os.Stat(m.file)
		switch {
		case m.code == 0 && err == nil:
			good++
		case m.code != 1 || !os.IsNotExist(err) || !strings.Contains(m.errs, "at the same moment") && !strings.Contains(m.errs, "there is a user of that name"):
			x.t.Errorf("exit %d, its file: %v: %s", m.code, err, m.errs)
		}
	}
	if good != 1 {
		x.t.Errorf("%d of two members made the user %s, want one", good, name)
	}
}

// A user that one member makes gets in at all of them; one that any member revokes is put
// out at all of them, and at one that was away as soon as it is back.
func TestUsersOfTheLogServerAreTheClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three members and kills one")
	}
	t.Parallel()
	x := foundedWith(t, "-nats-listen", "127.0.0.1:0")
	x.join("b")
	x.join("c")
	x.until("three copies", func() bool { return whole(x.status("a"), 3) })
	file := filepath.Join(t.TempDir(), "w.creds")
	code, _, errs := finish(t, command(t, "credentials", "worker", "-id", "w1", "-data", x.data["a"], "-out", file))
	if code != 0 || !strings.Contains(errs, "these members of the cluster know it: a, b, c") {
		t.Fatalf("a worker's credentials: exit %d: %s", code, errs)
	}
	c, err := credential.Read(file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*bus.Bus{}
	for _, id := range []string{"a", "b", "c"} {
		x.until("the worker gets in at "+id, func() bool { in[id], err = x.dial(id, c); return err == nil })
	}
	x.not("there is a user of that name", "credentials", "worker", "-id", "w1", "-data", x.data["b"], "-out", file+"2")
	x.atOnce("w2", "a", "b")
	x.kill("c")
	code, _, errs = finish(t, command(t, "credentials", "revoke", "w1", "-data", x.data["b"]))
	if code != 1 || !strings.Contains(errs, "know it: a, b\n") || !strings.Contains(errs, "learn of it when they are back: c") || !strings.Contains(errs, "may still get in at c") {
		t.Errorf("the worker is revoked: exit %d: %s", code, errs)
	}
	for _, id := range []string{"a", "b"} {
		x.until("the connection ends at "+id, func() bool { return !in[id].Conn().IsConnected() })
		x.until("the worker stays out at "+id, func() bool { return x.refused(id, c) })
	}
	x.start("c")
	x.until("c has learnt that the worker was revoked", func() bool { return x.refused("c", c) })
	x.until("the list at c is that of the others", func() bool {
		code, out, errs := finish(t, command(t, "credentials", "list", "-data", x.data["c"]))
		return code == 0 && !strings.Contains(out, "w1") && errs == ""
	})
}
