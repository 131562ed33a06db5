package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/sample"
)

// field is one field of a message.
type field struct {
	number protowire.Number
	bytes  []byte // of length-delimited ones
	value  uint64 // of others
}

// fields reads a message.
func fields(t *rapid.T, p []byte) []field {
	var all []field
	for len(p) > 0 {
		number, kind, n := protowire.ConsumeTag(p)
		if n < 0 {
			t.Fatalf("no tag: %v", protowire.ParseError(n))
		}
		f := field{number: number}
		p = p[n:]
		switch kind {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(p)
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(p)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(p)
		default:
			t.Fatalf("type %d", kind)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", number, protowire.ParseError(n))
		}
		p = p[n:]
		all = append(all, f)
	}
	return all
}

// readSample reads a sample, whose fields are the same in both versions.
func readSample(t *rapid.T, p []byte) (v float64, at int64) {
	for _, f := range fields(t, p) {
		switch f.number {
		case 1:
			v = math.Float64frombits(f.value)
		case 2:
			at = int64(f.value)
		}
	}
	return v, at
}

// read1 lists the series of a request of version 1.
func read1(t *rapid.T, p []byte) []string {
	var out []string
	for _, one := range fields(t, p) {
		var labels, values []string
		for _, f := range fields(t, one.bytes) {
			if f.number == 2 {
				v, at := readSample(t, f.bytes)
				values = append(values, fmt.Sprint(v, "@", at))
				continue
			}
			pair := fields(t, f.bytes)
			labels = append(labels, string(pair[0].bytes)+"="+string(pair[1].bytes))
		}
		out = append(out, strings.Join(labels, ";")+" "+strings.Join(values, " "))
	}
	return out
}

// read2 lists the series of a request of version 2.
func read2(t *rapid.T, p []byte) []string {
	var symbols, out []string
	for _, one := range fields(t, p) {
		if one.number == 4 {
			symbols = append(symbols, string(one.bytes))
			continue
		}
		var labels, values []string
		for _, f := range fields(t, one.bytes) {
			switch f.number {
			case 1:
				for refs := f.bytes; len(refs) > 0; {
					name, n := protowire.ConsumeVarint(refs)
					value, m := protowire.ConsumeVarint(refs[n:])
					labels, refs = append(labels, symbols[name]+"="+symbols[value]), refs[n+m:]
				}
			case 2:
				v, at := readSample(t, f.bytes)
				values = append(values, fmt.Sprint(v, "@", at))
			}
		}
		out = append(out, strings.Join(labels, ";")+" "+strings.Join(values, " "))
	}
	if symbols[0] != "" {
		t.Fatalf("the first symbol is %q", symbols[0])
	}
	return out
}

// expected lists the series of samples by a way of its own.
func expected(samples []sample.Sample) (out []string, n int) {
	series := map[string]map[object.Time]float64{}
	for _, s := range samples {
		labels := []string{"__name__=" + s.Name}
		for _, l := range s.Labels {
			labels = append(labels, l.Name+"="+l.Value)
		}
		key := strings.Join(labels, ";")
		if series[key] == nil {
			series[key] = map[object.Time]float64{}
		}
		series[key][s.Time] = s.Value
	}
	for key, values := range series {
		var times []object.Time
		for at := range values {
			times = append(times, at)
		}
		slices.SortFunc(times, cmp.Compare[object.Time])
		for _, at := range times {
			key += fmt.Sprint(" ", values[at], "@", int64(at))
			n++
		}
		out = append(out, key)
	}
	slices.Sort(out)
	return out, n
}

// TestRemoteWriteHoldsEachSeriesOnce also holds for samples that came in no order.
func TestRemoteWriteHoldsEachSeriesOnce(t *testing.T) {
	var w RemoteWrite
	rapid.Check(t, func(t *rapid.T) {
		samples := drawn(t)
		want, n := expected(samples)
		first := read1(t, w.Version1(nil, samples))
		body, count := w.Version2(nil, samples)
		next := read2(t, body)
		slices.Sort(first)
		slices.Sort(next)
		if !slices.Equal(first, want) || !slices.Equal(next, want) || count != n {
			t.Fatalf("1.0: %q\n2.0: %q (%d)\nwant %q (%d)", first, next, count, want, n)
		}
	})
}

func TestLabelsAreSortedWithTheName(t *testing.T) {
	s := sample.Sample{Name: "n", Labels: []sample.Label{{Name: "A", Value: "1"}, {Name: "__name__", Value: "other"}, {Name: "b", Value: "2"}}}
	var got []string
	eachLabel(&s, func(name, value string) { got = append(got, name+"="+value) })
	if strings.Join(got, " ") != "A=1 __name__=n b=2" {
		t.Errorf("got %v", got)
	}
}
