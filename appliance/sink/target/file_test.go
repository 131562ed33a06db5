package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAFileOfLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.jsonl")
	if err := os.WriteFile(path, []byte("{\"whole\":1}\n{\"torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := newTarget(t, "file", Metrics, map[string]string{"path": path})
	write := func() {
		t.Helper()
		if n, err := target.Write(t.Context(), samples()); err != nil || n == 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	write()
	const two = `{"name":"m","time":"2023-11-14T22:13:20.123Z","value":1,"labels":{"host":"h.1"}}` + "\n" +
		`{"name":"m","time":"2023-11-14T22:13:20.123Z","value":2,"labels":{"host":"h2","service":"s"}}` + "\n"
	if got := read(t, path); got != "{\"whole\":1}\n"+two {
		t.Errorf("what a crash left of a line is cut off: %q", got)
	}
	// Somebody else rotates the file.
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	write()
	if got := read(t, path); got != two {
		t.Errorf("a new file begins: %q", got)
	}
}

func TestAFileIsRotatedBeforeItIsTooLarge(t *testing.T) {
	dir := t.TempDir()
	target := newTarget(t, "file", Events, map[string]string{"path": filepath.Join(dir, "e.jsonl"), "max_size": "1KB", "keep": "2"})
	lines := 0
	for range 30 {
		if _, err := target.Write(t.Context(), events()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) != 3 {
		t.Fatalf("files %v, %v", all, err)
	}
	for _, path := range all {
		text := read(t, path)
		if len(text) > 1024 || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s has %d bytes", path, len(text))
		}
		lines += strings.Count(text, "\n")
	}
	if lines%3 != 0 || lines == 0 {
		t.Errorf("%d lines", lines)
	}
}

func TestAFileThatCannotBeWrittenIsATemporaryError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	target := newTarget(t, "file", Events, map[string]string{"path": filepath.Join(dir, "e")})
	if _, err := target.Write(t.Context(), events()); err == nil || strings.Count(err.Error(), "open ") != 1 {
		t.Errorf("a folder that is not there was written to, or said twice: %v", err)
	}
	const full = "/dev/full" // where a system has it
	if _, err := os.Stat(full); err == nil {
		_, err := newTarget(t, "file", Events, map[string]string{"path": full}).Write(t.Context(), events())
		if err == nil || strings.Count(err.Error(), "write "+full) != 1 || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("a disk that is full: %v", err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := target.Write(t.Context(), events()); err != nil {
		t.Error(err)
	}
}

func FuzzSize(f *testing.F) {
	for _, text := range []string{"1", "100MB", "1GB", "9999999999GB", "-1KB", "KB", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseSize(text); (err == nil) != (n > 0) || n > 1<<50 {
			t.Errorf("%q is %d, %v", text, n, err)
		}
	})
}
