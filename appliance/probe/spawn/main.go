package spawn

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
)

// mainArgument is the hidden first argument of a spawner process.
const mainArgument = "-spawner-of-checks"

// calm is in a spawner's own environment only: without it the runtime would
// interrupt its waiting a hundred times a second.
const calm = "GODEBUG=asyncpreemptoff=1"

// sockFD is where the spawner finds its socket.
const sockFD = 3

// Main turns the process into a spawner if it was started as one, and returns
// true when that is over; the caller then returns from main at once. In any
// other process it returns false and does nothing. It must be the first call in
// main, before flags are looked at.
func Main() bool {
	if len(os.Args) != 3 || os.Args[1] != mainArgument {
		return false
	}
	// Programs die with the thread that started them, so it must be this one.
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	closeOnExec()
	watchSignals(os.Getppid())
	deafToChildren()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return kv == calm })
	if err := serve(sockFD, env, os.Args[2], func(l *loop) { l.raw = true }); err != nil {
		fmt.Fprintf(os.Stderr, "jaque spawner: %v\n", err)
	}
	return true
}

// watchSignals makes the spawner outlive the signals that end the engine: it
// goes when the engine's end of the socket closes, after the last result. Only
// if the engine is gone and the socket is held open by a stray process does the
// kernel's notice of its death end it.
func watchSignals(parent int) {
	// Notify, not Ignore: what is ignored would stay ignored in the plugins.
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if parent == 1 {
		return
	}
	go func() {
		for range ch {
			if os.Getppid() != parent {
				_ = syscall.Shutdown(sockFD, syscall.SHUT_RDWR)
				return
			}
		}
	}()
}
