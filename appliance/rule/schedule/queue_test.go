package schedule_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/schedule"
)

// The queue answers as a plain map does that is searched for its smallest due
// time.
func TestQueueAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q schedule.Queue
		model := map[int32]object.Time{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := rapid.Int32Range(0, 40).Draw(t, "key")
			due := object.Time(rapid.IntRange(0, 50).Draw(t, "due"))
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				q.Remove(key)
				delete(model, key)
			case 1:
				wantKey, wantDue, wantOK := earliest(model, due)
				gotKey, gotDue, ok := q.Pop(due)
				if ok != wantOK || gotKey != wantKey || gotDue != wantDue {
					t.Fatalf("Pop(%d) = %d, %d, %t, want %d, %d, %t", due, gotKey, gotDue, ok, wantKey, wantDue, wantOK)
				}
				if ok {
					delete(model, gotKey)
				}
			default:
				q.Set(key, due)
				model[key] = due
			}
			if q.Len() != len(model) {
				t.Fatalf("Len() = %d, want %d", q.Len(), len(model))
			}
			got, ok := q.Due(key)
			want, wantOK := model[key]
			if ok != wantOK || got != want {
				t.Fatalf("Due(%d) = %d, %t, want %d, %t", key, got, ok, want, wantOK)
			}
		}
	})
}

func earliest(model map[int32]object.Time, now object.Time) (int32, object.Time, bool) {
	var keys []int32
	for k := range model {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	best := int32(-1)
	for _, k := range keys {
		if model[k] <= now && (best < 0 || model[k] < model[best]) {
			best = k
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	return best, model[best], true
}

func TestAnEmptyQueueHasNothingDue(t *testing.T) {
	var q schedule.Queue
	if _, ok := q.Next(); ok {
		t.Error("Next() of an empty queue says ok")
	}
	if _, _, ok := q.Pop(1 << 60); ok {
		t.Error("Pop() of an empty queue says ok")
	}
	q.Remove(7)
	if _, ok := q.Due(7); ok {
		t.Error("Due() of an unknown key says ok")
	}
}

func TestKeysWithEqualDueTimesComeInOrder(t *testing.T) {
	var q schedule.Queue
	for _, k := range []int32{5, 1, 4, 2, 3} {
		q.Set(k, 10)
	}
	for want := int32(1); want <= 5; want++ {
		if got, _, _ := q.Pop(10); got != want {
			t.Fatalf("got key %d, want %d", got, want)
		}
	}
}

func BenchmarkSetAndPop100k(b *testing.B) {
	var q schedule.Queue
	for k := range int32(100_000) {
		q.Set(k, object.Time(k)*7919%60_000)
	}
	b.ReportAllocs()
	for b.Loop() {
		due, _ := q.Next()
		k, _, _ := q.Pop(due)
		q.Set(k, due+60_000)
	}
}
