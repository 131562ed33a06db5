package encode

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"jaque.sh/jaque/appliance/rule/sample"
)

// RemoteWrite encodes requests of Prometheus' remote write. It keeps its buffers for
// the next request; one goroutine uses it at a time.
type RemoteWrite struct {
	order        []int // samples by series, then by time
	inner, small []byte
	symbols      map[string]uint64
	texts        []string
}

// The numbers of the fields of prometheus.WriteRequest (1.0) and
// io.prometheus.write.v2.Request (2.0).
const (
	v1Series, v1Labels, v1Samples, v1Name, v1Value = 1, 1, 2, 1, 2
	pbValue, pbTime                                = 1, 2 // of a sample in both

	v2Symbols, v2Series, v2Refs, v2Samples, v2Metadata = 4, 5, 1, 2, 5
	v2Type, v2Unit                                     = 1, 4
	v2Counter, v2Gauge                                 = 1, 2
)

// nameLabel holds the name of a series.
const nameLabel = "__name__"

// sort puts samples of one series beside each other, in order of time. It returns
// how many samples are left: of those of one instant only the last one counts.
func (w *RemoteWrite) sort(samples []sample.Sample) {
	w.order = w.order[:0]
	for i := range samples {
		w.order = append(w.order, i)
	}
	slices.SortStableFunc(w.order, func(a, b int) int {
		if c := samples[a].Compare(&samples[b]); c != 0 {
			return c
		}
		return int(samples[a].Time - samples[b].Time)
	})
	kept := w.order[:0]
	for i, at := range w.order {
		if i+1 < len(w.order) {
			next := &samples[w.order[i+1]]
			if samples[at].Time == next.Time && samples[at].Compare(next) == 0 {
				continue
			}
		}
		kept = append(kept, at)
	}
	w.order = kept
}

// next returns how many samples from the front of order are of one series.
func (w *RemoteWrite) next(samples []sample.Sample, from int) int {
	n := 1
	for from+n < len(w.order) && samples[w.order[from]].Compare(&samples[w.order[from+n]]) == 0 {
		n++
	}
	return n
}

func appendSample(dst, small []byte, field protowire.Number, s *sample.Sample) (out, buf []byte) {
	small = protowire.AppendTag(small[:0], pbValue, protowire.Fixed64Type)
	small = protowire.AppendFixed64(small, math.Float64bits(s.Value))
	small = protowire.AppendTag(small, pbTime, protowire.VarintType)
	small = protowire.AppendVarint(small, uint64(s.Time))
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), small), small
}

func appendText(dst []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), text)
}

// Version1 appends a WriteRequest, not compressed.
func (w *RemoteWrite) Version1(dst []byte, samples []sample.Sample) []byte {
	w.sort(samples)
	for from := 0; from < len(w.order); {
		n := w.next(samples, from)
		first := &samples[w.order[from]]
		w.inner = w.inner[:0]
		eachLabel(first, func(name, value string) {
			w.small = appendText(appendText(w.small[:0], v1Name, name), v1Value, value)
			w.inner = protowire.AppendBytes(protowire.AppendTag(w.inner, v1Labels, protowire.BytesType), w.small)
		})
		for _, i := range w.order[from : from+n] {
			w.inner, w.small = appendSample(w.inner, w.small, v1Samples, &samples[i])
		}
		dst = protowire.AppendBytes(protowire.AppendTag(dst, v1Series, protowire.BytesType), w.inner)
		from += n
	}
	return dst
}

// eachLabel calls f with every label, that of the name among them, sorted by name.
func eachLabel(s *sample.Sample, f func(name, value string)) {
	named := false
	for _, l := range s.Labels {
		if !named && l.Name >= nameLabel {
			f(nameLabel, s.Name)
			named = true
		}
		if l.Name != nameLabel {
			f(l.Name, l.Value)
		}
	}
	if !named {
		f(nameLabel, s.Name)
	}
}

// Version2 appends an io.prometheus.write.v2.Request, not compressed, and returns
// how many samples are in it, for the receiver says how many it has taken.
func (w *RemoteWrite) Version2(dst []byte, samples []sample.Sample) (out []byte, n int) {
	w.sort(samples)
	w.symbols, w.texts = map[string]uint64{"": 0}, append(w.texts[:0], "")
	var series []byte
	for from := 0; from < len(w.order); {
		n := w.next(samples, from)
		first := &samples[w.order[from]]
		w.small = w.small[:0]
		eachLabel(first, func(name, value string) {
			w.small = protowire.AppendVarint(w.small, w.symbol(name))
			w.small = protowire.AppendVarint(w.small, w.symbol(value))
		})
		w.inner = protowire.AppendBytes(protowire.AppendTag(w.inner[:0], v2Refs, protowire.BytesType), w.small)
		for _, i := range w.order[from : from+n] {
			w.inner, w.small = appendSample(w.inner, w.small, v2Samples, &samples[i])
		}
		w.small = w.metadata(w.small[:0], first)
		w.inner = protowire.AppendBytes(protowire.AppendTag(w.inner, v2Metadata, protowire.BytesType), w.small)
		series = protowire.AppendBytes(protowire.AppendTag(series, v2Series, protowire.BytesType), w.inner)
		from += n
	}
	for _, text := range w.texts {
		dst = appendText(dst, v2Symbols, text)
	}
	return append(dst, series...), len(w.order)
}

func (w *RemoteWrite) metadata(dst []byte, s *sample.Sample) []byte {
	kind := uint64(v2Gauge)
	if s.Counter {
		kind = v2Counter
	}
	dst = protowire.AppendVarint(protowire.AppendTag(dst, v2Type, protowire.VarintType), kind)
	if s.Unit == "" {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, v2Unit, protowire.VarintType), w.symbol(s.Unit))
}

// symbol returns the number of a text in the table of the request.
func (w *RemoteWrite) symbol(text string) uint64 {
	n, known := w.symbols[text]
	if !known {
		n = uint64(len(w.texts))
		w.symbols[text] = n
		w.texts = append(w.texts, text)
	}
	return n
}
