package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	os.Exit(run())
}

// run returns the exit code: 0 printed, 1 failed.
func run() int {
	names, err := goFiles()
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		return 1
	}
	var f figures
	for _, name := range names {
		src, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		if err == nil {
			err = f.collect(name, src)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "figures:", err)
			return 1
		}
	}
	direct, err := dependencies(f.imports)
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		return 1
	}
	fmt.Print(f.table(len(direct)))
	return 0
}

// goFiles lists the Go files that are in the repository or would be added.
func goFiles() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// dependencies are the modules that our packages import themselves.
func dependencies(imports map[string]bool) ([]string, error) {
	args := []string{"list", "-e", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}
	for path := range imports {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			args = append(args, path)
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	seen := map[string]bool{}
	var all []string
	for _, m := range strings.Fields(string(out)) {
		if !seen[m] {
			seen[m] = true
			all = append(all, m)
		}
	}
	return all, nil
}
