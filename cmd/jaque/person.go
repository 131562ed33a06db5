package main

import (
	"io"
	"os"
	"os/user"
	"time"

	"golang.org/x/sys/unix"

	"jaque.sh/jaque/roles"
	"jaque.sh/jaque/roles/client"
)

// person is what the commands for a running jaque get from this process.
func person(stdout, stderr io.Writer) client.Process {
	return client.Process{
		Stdin: os.Stdin, Stdout: stdout, Stderr: stderr, Lookup: os.LookupEnv, ReadFile: os.ReadFile,
		User: login(), URL: "http://" + roles.DefaultListen, Terminal: isTerminal(os.Stdin) && isTerminal(os.Stderr),
		Now: time.Now,
	}
}

// login is the name under which somebody works here, "" if it has none.
func login() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// isTerminal asks for what only a terminal has; /dev/null is a device too.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
