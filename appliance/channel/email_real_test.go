package channel

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// postfix is Debian's mail server with a config, a queue and a mailbox of the
// test's own.
type postfix struct {
	dir                string
	plain, start, full int // ports: in the clear, with STARTTLS, with TLS from the start
	roots              *x509.CertPool
}

// Where Debian puts the program.
const postfixMaster = "/usr/lib/postfix/sbin/master"

// postfixMain and postfixServices are main.cf and master.cf.
const (
	postfixMain = `compatibility_level = 3.6
queue_directory = DIR/queue
data_directory = DIR/data
maillog_file = DIR/log
maillog_file_prefixes = DIR
myhostname = localhost
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_mailbox_domains = example.org
virtual_mailbox_base = DIR/box
virtual_mailbox_maps = inline:{alice@example.org=alice/}
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
smtpd_tls_cert_file = DIR/cert.pem
smtpd_tls_key_file = DIR/key.pem
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = DIR/sasl
smtpd_sasl_local_domain = localhost
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
`
	postfixServices = `127.0.0.1:PLAIN inet n - n - - smtpd
127.0.0.1:START inet n - n - - smtpd -o smtpd_tls_security_level=encrypt -o smtpd_sasl_auth_enable=yes -o smtpd_client_restrictions=permit_sasl_authenticated,reject
127.0.0.1:FULL inet n - n - - smtpd -o smtpd_tls_wrappermode=yes -o smtpd_sasl_auth_enable=yes -o smtpd_client_restrictions=permit_sasl_authenticated,reject
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`
	saslConf = `pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: DIR/sasl/db
mech_list: MECHANISMS
`
)

// startPostfix starts the server, nil where there is none and nobody insists.
func startPostfix(t *testing.T, mechanisms string) *postfix {
	t.Helper()
	if _, err := os.Stat(postfixMaster); err != nil || os.Geteuid() != 0 {
		t.Logf("no Postfix or no root: this test needs Debian's packages postfix, libsasl2-modules and sasl2-bin, as root (%v)", err)
		if os.Getenv("CI") != "" {
			t.Fatal("continuous integration has to run this test")
		}
		return nil
	}
	// Beside the test's own folders, which nobody else may enter: the parts of the
	// server run as other users.
	dir, err := os.MkdirTemp("", "jaque-mail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &postfix{dir: dir, plain: listentest.Port(t), start: listentest.Port(t), full: listentest.Port(t)}
	s.configure(t, mechanisms)
	s.run(t)
	return s
}

// configure writes what the server reads.
func (s *postfix) configure(t *testing.T, mechanisms string) {
	t.Helper()
	config, roots := certificate(t, "localhost", time.Now().Add(time.Hour))
	s.roots = roots
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("DIR", s.dir, "MECHANISMS", mechanisms,
		"PLAIN", strconv.Itoa(s.plain), "START", strconv.Itoa(s.start), "FULL", strconv.Itoa(s.full))
	owner, err := user.Lookup("postfix")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(owner.Uid)
	folders := map[string]int{"": 0, "queue": 0, "queue/pid": 0, "data": uid, "box": 65534, "sasl": 0}
	for name := range strings.FieldsSeq("active bounce corrupt defer deferred flush hold incoming maildrop private public saved trace") {
		folders["queue/"+name] = uid
	}
	for name, own := range folders {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, 0o755), os.Chown(path, own, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"main.cf": postfixMain, "master.cf": postfixServices, "sasl/smtpd.conf": saslConf,
		"cert.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]})),
		"key.pem":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	} {
		if !strings.HasSuffix(name, ".pem") {
			text = fill.Replace(text)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// What the parts read that are not root.
	for _, name := range []string{"main.cf", "sasl/smtpd.conf"} {
		if err := os.Chmod(filepath.Join(s.dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(s.dir, "sasl", "db")
	set := exec.CommandContext(t.Context(), "saslpasswd2", "-p", "-c", "-f", db, "-u", "localhost", "jaque")
	set.Stdin = strings.NewReader("secret")
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("saslpasswd2: %v: %s", err, out)
	}
	if err := os.Chown(db, uid, 0); err != nil {
		t.Fatal(err)
	}
}

// run starts the server and waits until it answers.
func (s *postfix) run(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), postfixMaster, "-c", s.dir, "-d")
	// It ends its parts itself if it is asked to end: they are its process group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			t.Logf("what the mail server says:\n%s", log)
		}
	})
	soon(t, "the mail server answers", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.plain))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// soon waits until something is so.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(30 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not so after 30 s: %s", what)
		}
	}
}

// take returns the next mail of the box and removes it.
func (s *postfix) take(t *testing.T) string {
	t.Helper()
	var files []string
	soon(t, "a mail arrives", func() bool {
		files, _ = filepath.Glob(filepath.Join(s.dir, "box", "alice", "new", "*"))
		return len(files) > 0
	})
	raw, err := os.ReadFile(files[0])
	if err == nil {
		err = os.Remove(files[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestARealMailServerTakesTheMail(t *testing.T) {
	s := startPostfix(t, "PLAIN LOGIN CRAM-MD5 SCRAM-SHA-1 SCRAM-SHA-256")
	if s == nil {
		return
	}
	password := func(p string) func() (string, error) { return func() (string, error) { return p, nil } }
	tests := []struct {
		name    string
		options EmailOptions
		want    string // in the error; "" = it arrives
		final   bool   // the error is permanent
	}{
		{"in the clear on this machine", EmailOptions{TLS: "none", Port: s.plain}, "", false},
		{"with STARTTLS and a password", EmailOptions{TLS: "starttls", Port: s.start, User: "jaque", Password: password("secret"), Roots: s.roots}, "", false},
		{"with TLS and a password", EmailOptions{TLS: "tls", Port: s.full, User: "jaque", Password: password("secret"), Roots: s.roots}, "", false},
		{"a wrong password", EmailOptions{TLS: "tls", Port: s.full, User: "jaque", Password: password("wrong"), Roots: s.roots}, "AUTH SCRAM-SHA-256 as jaque: ", false},
		{"a certificate that nobody known has signed", EmailOptions{TLS: "starttls", Port: s.start, Roots: x509.NewCertPool()}, "STARTTLS: tls: failed to verify certificate", false},
		{"no STARTTLS where it is needed", EmailOptions{TLS: "none", Port: s.start, User: "jaque", Password: password("secret")}, "AUTH: the server offers no sign-in", false},
		{"STARTTLS where there is none", EmailOptions{TLS: "starttls", Port: s.plain, Roots: s.roots}, "STARTTLS: the server does not offer encryption", false},
		{"a recipient who does not exist", EmailOptions{TLS: "none", Port: s.plain, To: "nobody-at-all@example.org"}, "RCPT TO nobody-at-all@example.org: the server says 5", true},
		{"a domain that is not the server's", EmailOptions{TLS: "none", Port: s.plain, To: "alice@example.net"}, "RCPT TO alice@example.net: the server says 5", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := test.options
			o.Host, o.From = "localhost", "jaque <jaque@example.org>"
			if o.To == "" {
				o.To = "Alice <alice@example.org>"
			}
			e, err := NewEmail(o)
			if err != nil {
				t.Fatal(err)
			}
			// The name is that of the certificate, the address that of the server.
			e.dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", o.Port))
			}
			err = e.Send(t.Context(), pageAbout("DISK CRITICAL - 100 % Fläche\n.\nfrom here"))
			var failed *Error
			switch {
			case test.want == "" && err != nil:
				t.Fatal(err)
			case test.want == "":
				s.check(t)
			case !errors.As(err, &failed) || failed.Permanent != test.final || !strings.Contains(err.Error(), test.want):
				t.Errorf("error is %v (permanent: %v), want %q", err, failed != nil && failed.Permanent, test.want)
			}
		})
	}
}

// check takes the mail out of the box and reads it.
func (s *postfix) check(t *testing.T) {
	t.Helper()
	m, found := parts(t, s.take(t))
	for name, want := range map[string]string{
		"Message-Id": "<m-1f0c@example.org>", "References": "<t-77aa@example.org>", "In-Reply-To": "<t-77aa@example.org>",
		"Subject": "CRITICAL: disk on web01", "To": `"Alice" <alice@example.org>`, "Auto-Submitted": "auto-generated",
		"Delivered-To": "alice@example.org", "X-Jaque-Object": "web01!disk",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	text := "DISK CRITICAL - 100 % Fläche . from here"
	if !strings.Contains(found["text/plain"], text) || !strings.Contains(found["text/html"], text) {
		t.Errorf("the parts are\n%s", found)
	}
}
