package bus

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// room returns a disk with so many bytes free.
func room(free int64) func(string) (int64, error) {
	return func(string) (int64, error) { return free, nil }
}

// resultsBound opens a bus and returns how many bytes measurements may take.
func resultsBound(t *testing.T, o Options) int64 {
	t.Helper()
	b := open(t, o)
	info, err := streamInfo(t.Context(), b.JetStream(), "JAQUE_RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return info.Config.MaxBytes
}

func TestMeasurementsTakeHalfOfTheRoom(t *testing.T) {
	t.Parallel()
	for free, want := range map[int64]int64{
		100 << 30: DefaultResultsBytes, 9 << 30: 9 << 29, 100 << 20: 50 << 20, 40<<20 + 5: 20 << 20, roomFirst: resultsMin,
	} {
		if got := resultsBound(t, Options{Data: t.TempDir(), free: room(free)}); got != want {
			t.Errorf("with %d bytes free measurements may take %d, want %d", free, got, want)
		}
	}
}

func TestTheBoundMovesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if got := resultsBound(t, Options{Data: data, free: room(100 << 30)}); got != DefaultResultsBytes {
		t.Fatalf("bound = %d", got)
	}
	// A disk that filled up since: the stream that exists is not refused.
	if got := resultsBound(t, Options{Data: data, free: room(10 << 20)}); got != DefaultResultsBytes {
		t.Errorf("bound = %d on the fuller disk, want it unchanged", got)
	}
	if got := resultsBound(t, Options{Data: data, Retention: Retention{ResultsBytes: 64 << 20}}); got != 64<<20 {
		t.Errorf("bound = %d, want what the options say", got)
	}
}

// The server compares reservations with a limit of its own; a small one, which
// it takes from the disk when nothing is set, must not refuse anything.
func TestTheServerNeverRefusesForItsReservations(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	v, err := b.embed.server.Jsz(&server.JSzOptions{Config: true})
	if err != nil {
		t.Fatal(err)
	}
	if v.Config.MaxStore != unlimited {
		t.Errorf("the server's limit is %d, want none", v.Config.MaxStore)
	}
}

func TestADiskWithoutRoomIsOneClearError(t *testing.T) {
	t.Parallel()
	fresh, used := t.TempDir(), t.TempDir()
	resultsBound(t, Options{Data: used})
	for _, c := range []struct {
		name string
		data string
		free int64
		want string
	}{
		{"a first start needs more", fresh, 31 << 20, "31 MiB are free, 32 MiB are needed"},
		{"a restart needs a little", used, 3 << 20, "3 MiB are free, 4 MiB are needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{Data: c.data, free: room(c.free)})
			if !errors.Is(err, ErrFull) {
				t.Fatalf("open = %v, want ErrFull", err)
			}
			for _, want := range []string{"disk is full", c.data, c.want, "make room", "-data"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestASmallDiskIsWarnedAbout(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	open(t, Options{Data: t.TempDir(), free: room(40 << 20), Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if !strings.Contains(lines.String(), "little room") || !strings.Contains(lines.String(), "free_mib=40") {
		t.Errorf("log:\n%s", lines.String())
	}
}
