package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// sockets returns what a process has bound, such as "tcp 127.0.0.1:8420" for a listener,
// "udp 0.0.0.0:514", or "unix /run/x".
func sockets(t *testing.T, pid int) (bound []string) {
	t.Helper()
	own := map[string]bool{}
	for _, at := range openFiles(t, pid) {
		if inode, ok := strings.CutPrefix(at, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, kind := range []string{"tcp", "tcp6", "udp", "udp6", "unix"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, kind))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch {
			case kind == "unix" && len(f) == 8 && f[3] == "00010000" && own[f[6]]: // listens
				bound = append(bound, "unix "+f[7])
			case kind == "unix" || len(f) < 10 || !own[f[9]]:
			case strings.HasPrefix(kind, "udp") || f[3] == "0A": // a datagram socket has no state of listening
				bound = append(bound, strings.TrimSuffix(kind, "6")+" "+address(t, f[1]))
			}
		}
	}
	slices.Sort(bound)
	return bound
}

// address reads an address as the kernel prints it: words of four bytes, turned around.
func address(t *testing.T, text string) string {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	ip, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(ip)%4 != 0 {
		t.Fatalf("the kernel prints the address %q", text)
	}
	for word := range slices.Chunk(ip, 4) {
		slices.Reverse(word)
	}
	if len(ip) == 16 {
		return fmt.Sprintf("[%x]:%d", ip, n)
	}
	return fmt.Sprintf("%d.%d.%d.%d:%d", ip[0], ip[1], ip[2], ip[3], n)
}

// holding tells which texts stand in the memory of a process that it can write to.
func holding(t *testing.T, pid int, texts []string) map[string]bool {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = maps.Close() }()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mem.Close() }()
	found := map[string]bool{}
	chunk := make([]byte, 4<<20)
	const overlap = 256 // longer than any of the texts
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var rights string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); n != 3 || !strings.HasPrefix(rights, "rw") {
			continue
		}
		for at := from; at < to; at += int64(len(chunk)) - overlap {
			n, err := mem.ReadAt(chunk[:min(int64(len(chunk)), to-at)], at)
			if err != nil && n == 0 && err != io.EOF {
				break // given back meanwhile, or nobody's
			}
			for _, text := range texts {
				found[text] = found[text] || bytes.Contains(chunk[:n], []byte(text))
			}
		}
	}
	return found
}

// S027, S051, S086, S150, S151: which process opens which listener, holds which secret and
// runs checks. The memory of a worker is searched for what it must not know.
func TestEachRoleOpensItsOwnListenersAndHoldsItsOwnSecrets(t *testing.T) {
	const (
		token    = "api-token-2b9f8c"
		telegram = "417:telegram-token-5e1d"
		contact  = "ann-7c40@test.invalid"
		macro    = "macro-of-dmz-91aa"
	)
	secrets := []string{token, telegram, contact, macro}
	x := newShapeDay(t)
	x.write("token", token+"\n")
	x.write("telegram", telegram+"\n")
	x.write("check_file", strings.Replace(shapesPlugin, "read code", "echo $PPID >>DIR/parents\nread code", 1))
	x.write("site.cue", strings.NewReplacer("ann@test.invalid", contact, `"DIR/check_file", "db"`, `"DIR/check_file", "db", "$USER7$"`).Replace(shapesConfig)+
		fmt.Sprintf("settings: macros: USER7: %q\n", macro))
	address := listentest.Address(t)
	x.admit(map[string][]string{"w1": {"worker"}, "w3": {"worker", "-zone", "dmz"}, "u1": {"ui"}, "s1": {"sink"}, "n1": {"notifier"}})
	url := "nats://" + address
	follow := func(id, role string, more ...string) *running {
		return x.launch(append(more, "-nats-creds", x.path(id+".creds"), "-target", role, "-config", x.path("site.cue"), "-eventlog", url, "-coordination", url)...)
	}
	worker := func(id, zone string) *running {
		return x.launch("-nats-creds", x.path(id+".creds"), "-target", "worker", "-queue", url, "-zones", zone)
	}
	x.decider = x.launch(x.deciderArgs("-target", "engine", "-data", x.path("data"), "-nats-listen", address, "-queue", "embedded",
		"-coordination", "embedded", "-notify-delivery", "notifier", "-api-token-file", x.path("token"))...)
	x.decider.served()
	type process struct {
		name  string
		r     *running
		holds []string // of the secrets
	}
	all := []process{
		{"engine", x.decider, []string{token, contact, macro}},
		{"worker of default", worker("w1", "default"), nil},
		{"worker of dmz", worker("w3", "dmz"), []string{macro}},
		{"ui", follow("u1", "ui", "-api-token-file", x.path("token")), []string{token, contact}},
		{"sink", follow("s1", "sink"), []string{contact}},
		{"notifier", follow("n1", "notifier", append(x.mails.flags(), "-telegram-token-file", x.path("telegram"))...), []string{telegram, contact}},
	}
	x.front, x.notifier = all[3].r, all[5].r
	x.morning()

	for _, p := range all {
		pid := p.r.cmd.Process.Pid
		want := []string{"tcp " + strings.TrimPrefix(p.r.url, "http://")}
		if p.name == "engine" {
			want = append(want, "tcp "+address, "unix "+x.path("data/owner.sock"))
			slices.Sort(want)
		}
		if got := sockets(t, pid); !slices.Equal(got, want) {
			t.Errorf("%s listens on %v, want %v", p.name, got, want)
		}
		shows := p.name == "engine" || p.name == "ui"
		for _, path := range []string{"/", "/services", "/api/v1/status", "/api/v1/openapi.json"} {
			status, text := p.r.get(path)
			if answered := status == http.StatusOK; answered != shows {
				t.Errorf("%s answers %s with %d %.80s", p.name, path, status, text)
			}
		}
		for _, path := range []string{"/metrics", "/livez", "/healthz", "/readyz"} {
			if status, text := p.r.get(path); status != http.StatusOK {
				t.Errorf("%s answers %s with %d %.80s", p.name, path, status, text)
			}
		}
		got := holding(t, pid, secrets)
		for _, s := range secrets {
			must, may := slices.Contains(p.holds, s), s == macro && slices.Contains([]string{"ui", "sink", "notifier", "worker of dmz"}, p.name)
			if got[s] && !must && !may {
				t.Errorf("%s has %q in its memory", p.name, s)
			}
			// What a worker was given for a check may be gone from its memory by now.
			if !got[s] && must && !may {
				t.Errorf("%s has no %q in its memory: this test cannot tell anything", p.name, s)
			}
		}
	}
	parents, err := os.ReadFile(x.path("parents"))
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range slices.Compact(strings.Fields(string(parents))) {
		if parent != fmt.Sprint(all[1].r.cmd.Process.Pid) && parent != fmt.Sprint(all[2].r.cmd.Process.Pid) {
			t.Errorf("process %s has run a check and is no worker", parent)
		}
	}
	x.end()
}

// S075: one process does everything where no network is, and opens what it was told to.
func TestOneProcessNeedsNoNetwork(t *testing.T) {
	n := &faultNet{t: t, name: fmt.Sprintf("jaque-alone-%d", os.Getpid()), n: 1}
	n.ip("netns", "add", n.space(1))
	t.Cleanup(func() { _ = n.try("netns", "del", n.space(1)) })
	n.ip("-n", n.space(1), "link", "set", "lo", "up")
	dir := t.TempDir()
	path := site(t, fmt.Sprintf(`package site
defaults: {interval: "1s", retry: "1s"}
hosts: web01: {address: "127.0.0.1", check: dummy: state: "UP"}
services: load: {on: {}, check: plugin: ["/bin/sh", "-c", "echo 'well | load=1'"]}
sinks: values: {input: "metrics", file: path: %q}
`, filepath.Join(dir, "values.jsonl")))
	m := newFaultMember(t, n, 1, dir, "-config", path)
	m.start()
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) { // another process works
			if time.Now().After(end) {
				t.Fatalf("waited in vain until %s:\n%s", what, m.tail())
			}
		}
	}
	until("the service is OK", func() bool { return m.holds("/api/v1/services/web01/load", `"state":"OK"`) })
	until("the sink has a value", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "values.jsonl"))
		return strings.Contains(string(text), `"load"`)
	})
	status, text, err := m.ask(t.Context(), http.MethodPost, "/api/v1/commands", `{"command":"add-comment","object":"web01!load","author":"ann","comment":"alone"}`)
	if err != nil || status != http.StatusAccepted {
		t.Errorf("a command: %d %s, %v", status, text, err)
	}
	until("the comment is shown", func() bool { return m.holds("/services/web01/load", "alone") })
	if got, want := sockets(t, m.cmd.Process.Pid), []string{"tcp " + faultAPI, "unix " + m.data + "/owner.sock"}; !slices.Equal(got, want) {
		t.Errorf("it listens on %v, want %v", got, want)
	}
	if err := m.end(syscall.SIGTERM, patience); err != nil {
		t.Error(err)
	}
}
