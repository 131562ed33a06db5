//go:build !race

package bus

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain lets more of these tests run beside each other than there are processors: they
// wait for other servers nearly all the time. Not so under the race detector, with which
// they compute.
func TestMain(m *testing.M) {
	const beside = 4
	flag.Parse()
	own := strconv.Itoa(runtime.GOMAXPROCS(0)) == flag.Lookup("test.parallel").Value.String()
	if own && runtime.GOMAXPROCS(0) < beside {
		if err := flag.Set("test.parallel", strconv.Itoa(beside)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
