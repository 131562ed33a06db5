package probe

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// The servers run in a process of their own, so that only the client's CPU
// time is counted: the test binary starts itself with this variable set.
const serverVariable = "JAQUE_BENCH_SERVER"

// benchServer serves TCP and HTTP until its standard input ends, if asked to.
func benchServer() bool {
	kind := os.Getenv(serverVariable)
	if kind == "" {
		return false
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(os.Stdout, l.Addr().String()+"\n")
	if kind == "http" {
		go func() {
			_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "all is well") }))
		}()
	} else {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return true
}

func startServer(b *testing.B, kind string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+kind)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

func cpu(b *testing.B, who int) time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(who, &ru); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// measure runs f b.N times on a few goroutines and reports CPU s per 1000, of
// this process and of the programs it started.
func measure(b *testing.B, f func()) {
	b.Helper()
	const at = 8
	f()
	b.ResetTimer()
	own, children := cpu(b, syscall.RUSAGE_SELF), cpu(b, syscall.RUSAGE_CHILDREN)
	var wg sync.WaitGroup
	for range at {
		wg.Go(func() {
			for range (b.N + at - 1) / at {
				f()
			}
		})
	}
	wg.Wait()
	done := float64((b.N + at - 1) / at * at)
	b.ReportMetric((cpu(b, syscall.RUSAGE_SELF)-own).Seconds()*1000/done, "cpu-s/1000")
	b.ReportMetric((cpu(b, syscall.RUSAGE_CHILDREN)-children).Seconds()*1000/done, "children-s/1000")
	b.ReportMetric(done/b.Elapsed().Seconds(), "checks/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkTCP(b *testing.B) {
	address := startServer(b, "tcp")
	r := open(b, Options{})
	b.Run("floor net.Dial", func(b *testing.B) {
		measure(b, func() {
			c, err := net.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			_ = c.Close()
		})
	})
	b.Run("check", func(b *testing.B) {
		measure(b, func() {
			if got := do(b, r, tcp(object.TCPCheck{Address: address, Warn: "1", Crit: "5"})); got.State != object.OK {
				b.Error(got.Output)
			}
		})
	})
}

func BenchmarkHTTP(b *testing.B) {
	url := "http://" + startServer(b, "http") + "/"
	r := open(b, Options{})
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b.Run("floor http.Client", func(b *testing.B) {
		measure(b, func() {
			resp, err := client.Get(url)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
	})
	b.Run("check", func(b *testing.B) {
		measure(b, func() {
			if got := do(b, r, web(object.HTTPCheck{URL: url, Warn: "1", Crit: "5"})); got.State != object.OK {
				b.Error(got.Output)
			}
		})
	})
}

// BenchmarkPlugin is the whole way of a plugin's check through the runner. The
// second line says the same but needs a shell for it.
func BenchmarkPlugin(b *testing.B) {
	r := open(b, Options{})
	for _, c := range []struct {
		name  string
		check object.Check
	}{
		{"words", plugin("/bin/true")},
		{"a line", object.Check{Kind: object.CheckPlugin, Shell: "/bin/true -a"}},
		{"a line for a shell", object.Check{Kind: object.CheckPlugin, Shell: "/bin/true $A"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			measure(b, func() {
				if got := do(b, r, c.check); got.State != object.OK {
					b.Error(got.Output)
				}
			})
		})
	}
}
