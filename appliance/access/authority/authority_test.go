package authority

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestProcessesThatMakeTheAuthorityAtOnceHaveTheSame(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var all [8][]byte
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			a, err := Open(data)
			if err != nil {
				t.Error(err)
				return
			}
			all[i] = a.PEM()
		})
	}
	wait.Wait()
	for _, pem := range all[1:] {
		if !bytes.Equal(pem, all[0]) {
			t.Error("two authorities")
		}
	}
	info, err := os.Stat(filepath.Join(data, "tls", keyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the key %v (%v), want 0600", info.Mode(), err)
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries in the data folder (%v), want tls alone", len(entries), err)
	}
	if err := os.WriteFile(filepath.Join(data, "tls", keyFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(data); err == nil || !strings.Contains(err.Error(), "restore the folder") {
		t.Errorf("a damaged key: %v", err)
	}
}

// offered returns the certificate that a server with the settings shows now.
func offered(t *testing.T, c *tls.Config) *x509.Certificate {
	t.Helper()
	now, err := c.GetConfigForClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	return now.Certificates[0].Leaf
}

func TestTheServerIsKnownByEveryNameAndRenewedInTime(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Server(Names("192.0.2.7:4222"))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(a.PEM())
		first := offered(t, c)
		for _, name := range []string{ServerName, "localhost", "127.0.0.1", "192.0.2.7"} {
			if _, err := first.Verify(x509.VerifyOptions{DNSName: name, Roots: pool}); err != nil {
				t.Errorf("as %s: %v", name, err)
			}
		}
		if offered(t, c).SerialNumber.Cmp(first.SerialNumber) != 0 {
			t.Error("a new certificate for every connection")
		}
		time.Sleep(serverLife - renewBefore + time.Hour)
		if next := offered(t, c); next.SerialNumber.Cmp(first.SerialNumber) == 0 || time.Now().Add(serverLife/2).After(next.NotAfter) {
			t.Error("the certificate was not renewed in time")
		}
	})
}

func TestNamesOfAServerThatListensEverywhere(t *testing.T) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	names := Names("0.0.0.0:4222")
	for _, a := range addresses {
		if n := a.(*net.IPNet).IP.String(); !slices.Contains(names, n) {
			t.Errorf("%s is missing in %v", n, names)
		}
	}
}
