package journal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// narrowed draws a query over what fillNotes writes.
func narrowed(t *rapid.T, length int) Query {
	q := Query{Limit: rapid.SampledFrom([]int{1, 7, 100, 10_000}).Draw(t, "limit")}
	q.Before.Log = uint64(rapid.SampledFrom([]int{0, 0, 1, length / 2, length + 5}).Draw(t, "before"))
	q.After = uint64(rapid.SampledFrom([]int{0, 0, 1, length / 3, length}).Draw(t, "after"))
	q.Host = rapid.SampledFrom([]string{"", "", "h3", "h"}).Draw(t, "host")
	q.Kinds = rapid.SampledFrom([][]event.Kind{nil, {event.NotificationIntended}, {event.NotificationAbandoned, event.NotificationSuppressed}, {event.AckSet}}).Draw(t, "kinds")
	q.Words = rapid.SampledFrom([][]string{nil, nil, {"ann"}, {"CUSTOM"}, {"PROBLEM", "email"}, {"email:work"}, {"sms"}, {"CRITICAL"}}).Draw(t, "words")
	q.IDs = rapid.SampledFrom([][]string{nil, nil, {"d12", "d4500", "none"}, {"r7", "r99"}}).Draw(t, "ids")
	at := func(name string) (when time.Time) {
		if n := rapid.IntRange(-length, length).Draw(t, name); n > 0 {
			when = object.Time(1_800_000_000_000 + int64(n)*1000).Std()
		}
		return when
	}
	q.Since, q.Until = at("since"), at("until")
	return q
}

// fillNotes writes decisions and outcomes to a log.
func fillNotes(t *testing.T, j Journal, length int) {
	t.Helper()
	results := make(chan error, length)
	done := func(_ uint64, err error) { results <- err }
	for n := range length {
		e := decision(object.ServiceID(fmt.Sprint("h", n%9), fmt.Sprint("s", n)), n, 0)
		e.ID = fmt.Sprint("d", n)
		note := event.Note{Kind: []string{"PROBLEM", "RECOVERY", "CUSTOM"}[n%7%3], Send: n%5 != 0}
		note.People = []event.Person{{Name: []string{"ann", "ben"}[n%2], Told: note.Send, Channels: [][]string{{"email:work"}, {"email"}, nil}[n%3]}}
		if e.Also = []event.Kind{event.NotificationIntended}; !note.Send {
			e.Also[0] = event.NotificationSuppressed
		}
		switch n % 4 {
		case 0:
			e.Kind, e.Also, e.Facts = event.NotificationAbandoned, nil, map[string]string{event.FactRequest: fmt.Sprint("r", n%400-n%400%4-1)}
		case 1, 2:
			e.Notes = []event.Note{note}
		}
		j.Append(e, 0, done)
		if n%1000 == 999 || n == length-1 {
			for range n%1000 + 1 {
				if err := <-results; err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func positions(all []event.Event) (list []string) {
	for i := range all {
		list = append(list, about(&all[i]))
	}
	return list
}

func TestTheIndexFindsWhatReadingEverythingFinds(t *testing.T) {
	const length = 5000 // more than an extent
	indexed := openJournal(t, openBus(t, t.TempDir()))
	fillNotes(t, indexed, length)
	all, err := indexed.(*jetStream).backwards(t.Context(), event.Log, ">", 0, &Query{Limit: 2 * length})
	if err != nil || len(all) != length {
		t.Fatalf("%d events, %v", len(all), err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		q := narrowed(rt, length)
		want := q
		want.ready()
		got, err := indexed.History(t.Context(), q)
		if err != nil {
			rt.Fatal(err)
		}
		expect := want.merge(append([]event.Event(nil), all...), nil)
		if a, b := fmt.Sprint(positions(got)), fmt.Sprint(positions(expect)); a != b {
			rt.Fatalf("%+v\ngot  %s\nwant %s", q, a, b)
		}
	})
	if n := len(indexed.(*jetStream).index.extents); n != 2 {
		t.Errorf("the index holds %d stretches, want 2", n)
	}
}

func TestANewEventIsFoundByAnIndexThatWasFilledBefore(t *testing.T) {
	j := openJournal(t, openBus(t, t.TempDir()))
	for n := range 3 {
		put(t, j, decision("h", n, uint64(n)), uint64(n))
		got, err := j.History(t.Context(), Query{Limit: 10})
		if err != nil || len(got) != n+1 || got[0].Seq != uint64(n+1) {
			t.Fatalf("after %d: %d events, %v", n+1, len(got), err)
		}
	}
}

func TestTheIndexForgetsWhatWasNotAskedForLately(t *testing.T) {
	x := newIndex()
	for n := range uint64(extentsKept + 10) {
		x.extent(n)
		x.extent(0)
	}
	if _, kept := x.extents[0]; len(x.extents) != extentsKept || !kept {
		t.Errorf("%d stretches, the one in use is kept: %v", len(x.extents), kept)
	}
}

func TestReadingTheIndexEndsWithTheRequest(t *testing.T) {
	j := openJournal(t, openBus(t, t.TempDir()))
	put(t, j, decision("h", 0, 0), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.History(ctx, Query{}); err == nil {
		t.Error("a query whose request was cancelled is answered")
	}
}
