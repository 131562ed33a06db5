package oncall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
	"jaque.sh/jaque/appliance/rule/period"
)

// drawSchedule makes layers, some for a part of the time, without overrides; nil
// if a layer cannot start when it should.
func drawSchedule(t *rapid.T, all []*time.Location, around time.Time) (oncall.Spec, *oncall.Schedule) {
	spec := oncall.Spec{Zone: rapid.SampledFrom(all).Draw(t, "zone")}
	for i := range rapid.IntRange(1, 4).Draw(t, "layers") {
		zone := rapid.SampledFrom(all).Draw(t, "zone of layer")
		l := drawRotation(t, zone, around.AddDate(0, 0, rapid.IntRange(0, 20).Draw(t, "later"))).spec(fmt.Sprint("layer ", i))
		if text := rapid.SampledFrom([]string{"", "01:00-02:30,20:00-24:00", "saturday-sunday 00:00-24:00", "monday-friday 09:00-17:00", "2030-01-01 - 2031-12-31 00:00-24:00"}).Draw(t, "only"); text != "" {
			p, err := period.Parse("p", zone, []string{text}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.Only = p
		}
		spec.Layers = append(spec.Layers, l)
	}
	s, err := oncall.Parse(spec)
	if err != nil {
		return spec, nil
	}
	return spec, s
}

// drawInstant makes an instant from 1991 to 2049.
func drawInstant(t *rapid.T) time.Time {
	return time.Unix(int64(rapid.IntRange(662688000, 2493072000).Draw(t, "second")), 0).UTC()
}

// tile fails unless shifts follow each other from one instant to another, each
// of them with a length.
func tile(t *rapid.T, shifts []oncall.Shift, from, to object.Time) {
	for _, s := range shifts {
		if s.From != from || s.To <= s.From {
			t.Fatalf("a shift from %d to %d where one has to begin at %d", s.From, s.To, from)
		}
		from = s.To
	}
	if from != to {
		t.Fatalf("the shifts end at %d instead of %d", from, to)
	}
}

// when returns the shift at an instant.
func when(shifts []oncall.Shift, at object.Time) oncall.Shift {
	return shifts[slices.IndexFunc(shifts, func(s oncall.Shift) bool { return s.From <= at && at < s.To })]
}

func TestShiftsCoverTimeOnceAndAgreeWithAt(t *testing.T) {
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		around := drawInstant(t)
		spec, s := drawSchedule(t, all, around)
		if s == nil {
			return
		}
		from := object.At(around)
		to := from.Add(time.Duration(rapid.IntRange(1, 60*24*60).Draw(t, "minutes")) * time.Minute)
		byLayer := make([][]oncall.Shift, len(spec.Layers))
		for _, shift := range s.Shifts(from, to) {
			i := slices.IndexFunc(spec.Layers, func(l oncall.LayerSpec) bool { return l.Name == shift.Source.Name })
			byLayer[i] = append(byLayer[i], shift)
		}
		for _, shifts := range byLayer {
			tile(t, shifts, from, to)
		}
		final := s.Final(from, to)
		tile(t, final, from, to)
		for range 8 {
			at := from + object.Time(rapid.IntRange(0, int(to-from)-1).Draw(t, "at"))
			var want []oncall.Turn
			for i := len(byLayer) - 1; i >= 0; i-- {
				if shift := when(byLayer[i], at); shift.Contact != "" {
					want = append(want, oncall.Turn{Contact: shift.Contact, Source: shift.Source, Until: shift.To})
				}
			}
			got := s.At(at)
			if len(got) != len(want) {
				t.Fatalf("at %d: %+v, want %+v", at, got, want)
			}
			for i := range got {
				until := min(got[i].Until, to)
				if got[i].Until == 0 {
					until = to
				}
				if got[i].Contact != want[i].Contact || got[i].Source != want[i].Source || until > want[i].Until || i > 0 && until != want[i].Until {
					t.Fatalf("at %d: %+v, want %+v", at, got, want)
				}
			}
			top, shift := s.OnCall(at), when(final, at)
			if shift.Contact != top.Contact || shift.Source != top.Source || len(got) > 0 && top != got[0] || (len(got) == 0) != (top.Contact == "") {
				t.Fatalf("at %d: on call %+v, final %+v, at %+v", at, top, shift, got)
			}
		}
		// A gap is where no layer has anybody, and nothing else is.
		var open, gaps object.Time
		for _, shift := range final {
			if shift.Contact == "" {
				open += shift.To - shift.From
			}
		}
		for _, g := range s.Gaps(from, to) {
			gaps += g.To - g.From
			if len(s.At(g.From)) > 0 || len(s.At(g.To-1)) > 0 || g.From > from && len(s.At(g.From-1)) == 0 || g.To < to && len(s.At(g.To)) == 0 {
				t.Fatalf("not a gap from end to end: %+v", g)
			}
		}
		if open != gaps {
			t.Fatalf("%d ms of gaps, want %d", gaps, open)
		}
	})
}

func TestOverridesCutExactly(t *testing.T) {
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		around := drawInstant(t)
		spec, plain := drawSchedule(t, all, around)
		if plain == nil {
			return
		}
		at := around
		for i := range rapid.IntRange(1, 5).Draw(t, "overrides") {
			from := at.Add(time.Duration(rapid.IntRange(0, 100000).Draw(t, "pause")) * time.Second)
			at = from.Add(time.Duration(rapid.IntRange(1, 500000).Draw(t, "length")) * time.Second)
			o := oncall.OverrideSpec{From: from.In(spec.Zone).Format(time.RFC3339), To: at.Format(time.RFC3339), Reason: fmt.Sprint("number ", i)}
			if o.Nobody = rapid.Bool().Draw(t, "nobody"); !o.Nobody {
				o.Contact = fmt.Sprint("stand-in ", i)
			}
			spec.Overrides = slices.Insert(spec.Overrides, rapid.IntRange(0, i).Draw(t, "place"), o)
		}
		s, err := oncall.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		// Layers show through wherever no override is, and their shifts stay as they are.
		from, to := object.At(around.Add(-time.Hour)), object.At(at.Add(time.Hour))
		if !slices.Equal(s.Shifts(from, to), plain.Shifts(from, to)) {
			t.Fatal("an override changes the shifts of a layer")
		}
		final := s.Final(from, to)
		tile(t, final, from, to)
		replaced := map[string]object.Time{}
		for _, shift := range final {
			if shift.Source.Kind == oncall.Override {
				replaced[shift.Source.Reason] += shift.To - shift.From
				continue
			}
			base := plain.OnCall(shift.From)
			if base.Contact != shift.Contact || base.Source != shift.Source || base.Until != 0 && base.Until < shift.To {
				t.Fatalf("%+v is %+v without overrides", shift, base)
			}
		}
		for _, o := range spec.Overrides {
			first, _ := time.Parse(time.RFC3339, o.From)
			last, _ := time.Parse(time.RFC3339, o.To)
			if object.At(last)-object.At(first) != replaced[o.Reason] {
				t.Fatalf("%+v covers %d ms", o, replaced[o.Reason])
			}
			if got := s.OnCall(object.At(first)); got.Contact != o.Contact || got.Until != object.At(last) || got.Source.Reason != o.Reason {
				t.Fatalf("%+v gives %+v", o, got)
			}
		}
	})
}

func TestAYearOfWeeksIsFair(t *testing.T) {
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		r := drawRotation(t, rapid.SampledFrom(all).Draw(t, "zone"), drawInstant(t))
		r.every, r.weekdays = 1, map[time.Weekday]bool{r.start.Weekday(): true}
		s, err := oncall.Parse(oncall.Spec{Layers: []oncall.LayerSpec{r.spec("main")}})
		if err != nil {
			return
		}
		year := s.Final(object.At(r.instant(r.start)), object.At(r.instant(r.start.AddDate(0, 0, 52*7))))
		weeks := map[string]int{}
		for i, shift := range year {
			weeks[shift.Contact]++
			if shift.Contact != r.contacts[i%len(r.contacts)] {
				t.Fatalf("week %d is %s's", i, shift.Contact)
			}
			if off := shift.To.Sub(shift.From) - 7*24*time.Hour; off.Abs() > 24*time.Hour {
				t.Fatalf("week %d lasts %s", i, shift.To.Sub(shift.From))
			}
		}
		for _, c := range r.contacts {
			if fair := 52 / len(r.contacts); weeks[c] != fair && weeks[c] != fair+1 || len(year) != 52 {
				t.Fatalf("%d weeks: %v", len(year), weeks)
			}
		}
	})
}
