package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run returns the exit code: 0 written, 1 failed, 2 wrong use.
func run(args []string, stderr io.Writer) int {
	set := flag.NewFlagSet("pages", flag.ContinueOnError)
	set.SetOutput(stderr)
	dir := set.String("dir", "docs", "the folder of the pages")
	if set.Parse(args) != nil || set.NArg() > 0 {
		return 2
	}
	if err := write(*dir); err != nil {
		fmt.Fprintln(stderr, "pages:", err)
		return 1
	}
	return 0
}

// write brings the lines of all pages and the index up to date.
func write(dir string) error {
	read := reader(dir)
	for _, s := range sections() {
		for _, p := range s.pages {
			text, err := read(p.name)
			if err != nil {
				return err
			}
			line, err := head(p.name, read)
			if err != nil {
				return err
			}
			if after := placed(text, line); after != text {
				if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(p.name)), []byte(after), 0o644); err != nil {
					return fmt.Errorf("write the page: %w", err)
				}
			}
		}
	}
	text, err := list(read)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, index), []byte(text), 0o644)
	}
	return err
}

// reader reads pages of a folder.
func reader(dir string) func(name string) (string, error) {
	return func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", fmt.Errorf("read the page: %w", err)
		}
		return string(text), nil
	}
}
