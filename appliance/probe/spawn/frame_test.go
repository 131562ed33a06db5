package spawn

import (
	"bytes"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFramesReadWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 5)
		req := Request{
			Path: rapid.String().Draw(t, "path"), Args: texts.Draw(t, "args"), Env: texts.Draw(t, "env"),
			Timeout: time.Duration(rapid.Int64Min(0).Draw(t, "timeout")),
		}
		res := Result{
			Errno: syscall.Errno(rapid.Uint32Max(200).Draw(t, "errno")), Status: syscall.WaitStatus(rapid.Uint16().Draw(t, "status")),
			TimedOut: rapid.Bool().Draw(t, "timed out"), Killed: rapid.Bool().Draw(t, "killed"),
			OutCut: rapid.Bool().Draw(t, "out cut"), ErrCut: rapid.Bool().Draw(t, "err cut"),
			Out: []byte(rapid.String().Draw(t, "out")), Err: []byte(rapid.String().Draw(t, "err")),
			Start: time.Unix(0, rapid.Int64Min(0).Draw(t, "start")), Took: time.Duration(rapid.Int64Min(0).Draw(t, "took")),
		}
		id := rapid.Uint64().Draw(t, "id")
		b := appendResult(appendSignal(appendStart(nil, id, &req), frameKill, id), id, &res)

		f, b := mustCut(t, b)
		gotReq, err := parseStart(f.body)
		if f.kind != frameStart || f.id != id || err != nil || !reflect.DeepEqual(gotReq, req) {
			t.Fatalf("start frame %d %d: got %+v, %v, want %+v", f.kind, f.id, gotReq, err, req)
		}
		if f, b = mustCut(t, b); f.kind != frameKill || f.id != id || len(f.body) != 0 {
			t.Fatalf("kill frame: got %+v", f)
		}
		f, b = mustCut(t, b)
		gotRes, err := parseResult(f.body)
		if f.kind != frameResult || err != nil || !reflect.DeepEqual(gotRes, res) {
			t.Fatalf("result frame: got %+v, %v, want %+v", gotRes, err, res)
		}
		if len(b) != 0 {
			t.Fatalf("%d bytes too many", len(b))
		}
	})
}

func mustCut(t *rapid.T, b []byte) (frame, []byte) {
	f, rest, ok, err := cutFrame(b)
	if !ok || err != nil {
		t.Fatalf("cut frame: ok %v, %v", ok, err)
	}
	return f, rest
}

func TestAnIncompleteFrameWaitsForTheRest(t *testing.T) {
	whole := appendStart(nil, 7, &Request{Path: "/bin/true", Args: []string{"true"}})
	for n := range whole {
		if _, rest, ok, err := cutFrame(whole[:n]); ok || err != nil || len(rest) != n {
			t.Fatalf("%d of %d bytes: ok %v, rest %d, %v", n, len(whole), ok, len(rest), err)
		}
	}
}

func TestDamagedFramesAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"shorter than its fixed part": {1, 0, 0, 0, 9},
		"longer than any frame":       {255, 255, 255, 255},
	} {
		if _, _, ok, err := cutFrame(b); ok || err == nil {
			t.Errorf("%s: ok %v, %v", name, ok, err)
		}
	}
	for name, body := range map[string][]byte{
		"empty":                            {},
		"a text longer than the frame":     append(make([]byte, 8), 200, 1, 'x'),
		"more words than bytes":            append(make([]byte, 8), 0, 255, 255, 3),
		"bytes after the end":              append(make([]byte, 8), 0, 0, 0, 0),
		"a count that does not end":        append(make([]byte, 8), bytes.Repeat([]byte{255}, 12)...),
		"a list that ends before its last": append(make([]byte, 8), 0, 2, 1, 'a'),
	} {
		if got, err := parseStart(body); err == nil {
			t.Errorf("start frame, %s: got %+v", name, got)
		}
		if got, err := parseResult(body); err == nil {
			t.Errorf("result frame, %s: got %+v", name, got)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(appendStart(nil, 1, &Request{Path: "/bin/true", Args: []string{"true"}, Env: []string{"A=b"}}))
	f.Add(appendResult(nil, 2, &Result{Out: []byte("OK"), Start: time.Unix(1, 0)}))
	f.Add(appendSignal(nil, frameKill, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			fr, rest, ok, err := cutFrame(b)
			if !ok || err != nil {
				return
			}
			if len(rest) >= len(b) {
				t.Fatal("a frame of no length")
			}
			b = rest
			if req, err := parseStart(fr.body); err == nil {
				again, err := parseStart(appendStart(nil, fr.id, &req)[headLen+fixedLen:])
				if err != nil || !reflect.DeepEqual(again, req) {
					t.Fatalf("start frame: got %+v, %v, want %+v", again, err, req)
				}
			}
			_, _ = parseResult(fr.body)
		}
	})
}

func TestMergeEnvPrefersTheRequest(t *testing.T) {
	base := []string{"PATH=/bin", "LC_ALL=C", "ODD"}
	got := strings.Join(mergeEnv(base, []string{"LC_ALL=de_DE", "NAGIOS_HOSTNAME=web01"}), " ")
	if want := "PATH=/bin ODD LC_ALL=de_DE NAGIOS_HOSTNAME=web01"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := mergeEnv(base, nil); !reflect.DeepEqual(got, base) {
		t.Errorf("nothing to merge: got %v", got)
	}
}
