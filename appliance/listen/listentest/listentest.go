// Package listentest gives tests addresses of this machine that stay free. It is for tests
// alone and owns nothing beyond the list of what it has given.
package listentest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// given are the ports that some test has: tests that run at once take no other's.
var given sync.Map

// Address returns an address on loopback that nobody listens on, see Port.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}

// Port returns a port of 127.0.0.1 that stays free until a test listens on it, also while
// who listened there is started again: it is none of those that the machine gives to
// connections and to listeners without a port of their own.
func Port(t testing.TB) int {
	t.Helper()
	end := 32768
	if data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if fields := strings.Fields(string(data)); len(fields) == 2 {
			end, _ = strconv.Atoi(fields[0])
		}
	}
	const begin = 10000
	if end <= begin {
		t.Fatalf("the machine gives ports from %d on to connections; leave it to begin at 32768", end)
	}
	for range end - begin {
		port := begin + rand.IntN(end-begin)
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		_ = l.Close()
		if _, taken := given.LoadOrStore(port, true); !taken {
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free", begin, end)
	return 0
}
