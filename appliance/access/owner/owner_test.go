package owner

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLikeGivesAFileToTheOwnerOfAFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := os.Geteuid()
	if want == 0 {
		want = 12345
		if err := os.Chown(dir, want, want); err != nil {
			t.Fatal(err)
		}
	}
	if err := Like(file, dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Uid); got != want {
		t.Errorf("owner = %d, want %d", got, want)
	}
	if err := Like(file, filepath.Join(dir, "none")); os.Geteuid() == 0 && (err == nil || !strings.Contains(err.Error(), "none")) {
		t.Errorf("err = %v, want one that names the folder", err)
	}
}
