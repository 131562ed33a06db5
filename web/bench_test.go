package web

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/web/sample"
)

// quiet is a ResponseWriter that keeps nothing.
type quiet struct{ h http.Header }

func (q *quiet) Header() http.Header         { return q.h }
func (q *quiet) Write(b []byte) (int, error) { return len(b), nil }
func (q *quiet) WriteHeader(int)             {}

// cpu is the processor time of this process, which a busy machine does not
// stretch as it does the clock's.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		h, err := New(options(sample.Many(n)))
		if err != nil {
			b.Fatal(err)
		}
		for name, path := range map[string]string{
			"list of 4 columns": root + "/services?fields=host,service,state,output",
			"list of all":       root + "/services",
			"list by state":     root + "/services?sort=-state&limit=100",
			"problems":          root + "/services?filter=unhandled&fields=host,service,state,output",
			"one service":       root + "/services/host00042/service3",
			"page of problems":  "/",
			"page of services":  "/services?sort=-state",
			"page of a service": "/services/host00042/service3",
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
				r = r.WithContext(contextWithAddr(r, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}))
				b.ReportAllocs()
				before := cpu(b)
				for b.Loop() {
					h.ServeHTTP(&quiet{http.Header{}}, r)
				}
				b.ReportMetric(float64(cpu(b)-before)/1e6/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
