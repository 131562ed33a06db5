package throttle

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneLineOfAKindEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lines
		if left, ok := l.Let("a"); !ok || left != 0 {
			t.Errorf("the first line: %d, %v", left, ok)
		}
		for range 1000 {
			if _, ok := l.Let("a"); ok {
				t.Fatal("a second line within the minute")
			}
		}
		if _, ok := l.Let("b"); !ok {
			t.Error("a line of another kind was held back")
		}
		time.Sleep(Interval)
		if left, ok := l.Let("a"); !ok || left != 1000 {
			t.Errorf("a minute later: %d left out, %v", left, ok)
		}
		time.Sleep(Interval)
		if left, ok := l.Let("a"); !ok || left != 0 {
			t.Errorf("another minute later: %d left out, %v", left, ok)
		}
	})
}

// Whoever causes lines may also make up their kinds.
func TestKindsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lines
		written := 0
		for i := range 10_000 {
			if _, ok := l.Let(fmt.Sprint("kind ", i)); ok {
				written++
			}
		}
		if written != most+1 || len(l.seen) > most+1 {
			t.Errorf("%d lines written, %d kinds remembered, want %d", written, len(l.seen), most+1)
		}
		time.Sleep(Interval)
		if _, ok := l.Let("new"); !ok || len(l.seen) > most {
			t.Errorf("a minute later a new kind is written: %v, %d kinds remembered", ok, len(l.seen))
		}
	})
}
