package spawn

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// compile builds a C program of testdata in a temporary folder.
func compile(b *testing.B, name string) string {
	b.Helper()
	exe := filepath.Join(b.TempDir(), name)
	if out, err := exec.Command("cc", "-O2", "-o", exe, "testdata/"+name+".c").CombinedOutput(); err != nil {
		b.Fatalf("compile %s: %v\n%s", name, err, out)
	}
	return exe
}

// cpu is the processor time of processes: their own, and that of the children
// they have reaped.
type cpu struct{ own, children time.Duration }

func usage(b *testing.B) cpu {
	b.Helper()
	return cpu{rusage(b, syscall.RUSAGE_SELF), rusage(b, syscall.RUSAGE_CHILDREN)}
}

func rusage(b *testing.B, who int) time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(who, &ru); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// report prints CPU seconds per 1000 starts: of the engine and of everything.
func report(b *testing.B, from, to cpu) {
	b.Helper()
	own, all := to.own-from.own, to.own-from.own+to.children-from.children
	per1000 := 1000 / float64(b.N)
	b.ReportMetric(own.Seconds()*per1000, "engine-s/1000")
	b.ReportMetric(all.Seconds()*per1000, "all-s/1000")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkStart(b *testing.B) {
	plugin, floor := compile(b, "plugin"), compile(b, "floor")
	for _, at := range []int{1, 2, 16} {
		b.Run(fmt.Sprintf("floor posix_spawn x%d", at), func(b *testing.B) {
			from := usage(b)
			together(at, func(int) {
				if err := exec.Command(floor, plugin, strconv.Itoa(b.N/at)).Run(); err != nil {
					b.Error(err)
				}
			})
			report(b, from, usage(b))
		})
		b.Run(fmt.Sprintf("floor os-exec x%d", at), func(b *testing.B) {
			from := usage(b)
			together(at, func(int) {
				for range b.N / at {
					if _, err := exec.Command(plugin).Output(); err != nil {
						b.Error(err)
					}
				}
			})
			report(b, from, usage(b))
		})
		b.Run(fmt.Sprintf("starter x%d", at), func(b *testing.B) {
			s := openStarter(b)
			from := usage(b)
			together(at, func(int) {
				for range b.N / at {
					runOK(b, s, plugin)
				}
			})
			report(b, from, usage(b))
		})
	}
}

// BenchmarkPaced starts 200 programs a second, as an engine with light load does.
func BenchmarkPaced(b *testing.B) {
	plugin := compile(b, "plugin")
	s := openStarter(b)
	from := usage(b)
	var wg sync.WaitGroup
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range b.N {
		<-tick.C
		wg.Go(func() { runOK(b, s, plugin) })
	}
	wg.Wait()
	report(b, from, usage(b))
}

// BenchmarkHeap compares a start from a small and from a big process.
func BenchmarkHeap(b *testing.B) {
	plugin := compile(b, "plugin")
	for _, mib := range []int{10, 1024} {
		b.Run(fmt.Sprintf("%d MiB", mib), func(b *testing.B) {
			heap := make([]byte, mib<<20)
			for i := 0; i < len(heap); i += 4096 {
				heap[i] = byte(i>>12) | 1
			}
			s := openStarter(b)
			b.ResetTimer()
			from := usage(b)
			for range b.N {
				runOK(b, s, plugin)
			}
			report(b, from, usage(b))
			if heap[4096*(b.N%(mib<<8))] == 0 {
				b.Error("the heap went away")
			}
		})
	}
}

func openStarter(b *testing.B) *Starter {
	b.Helper()
	s, err := New(Options{Env: []string{"LC_ALL=C"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

func runOK(b *testing.B, s *Starter, path string) {
	res, err := s.Run(b.Context(), &Request{Path: path, Args: []string{path}, Timeout: 10 * time.Second})
	if err != nil || res.Errno != 0 || res.Status != 0 {
		b.Errorf("run %s: %+v, %v", path, res, err)
	}
}

func together(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
