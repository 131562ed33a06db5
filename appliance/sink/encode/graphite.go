package encode

import (
	"encoding/binary"
	"math"
	"strconv"

	"jaque.sh/jaque/appliance/rule/sample"
)

// seconds is an instant in whole seconds since 1970.
func seconds(s *sample.Sample) int64 { return int64(s.Time) / 1000 }

// Number appends a value in the shortest form that gives the same value back, never
// with an exponent where plain digits are as short: not every reader knows it.
func Number(dst []byte, v float64) []byte {
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// path appends the name with its labels as Graphite's tags.
func path(dst []byte, s *sample.Sample) []byte {
	dst = append(dst, s.Name...)
	for _, l := range s.Labels {
		dst = append(append(append(append(dst, ';'), l.Name...), '='), l.Value...)
	}
	return dst
}

// Graphite appends lines "PATH VALUE SECONDS". Labels become tags.
func Graphite(dst []byte, samples []sample.Sample) []byte {
	for i := range samples {
		s := &samples[i]
		dst = append(path(dst, s), ' ')
		dst = append(Number(dst, s.Value), ' ')
		dst = append(strconv.AppendInt(dst, seconds(s), 10), '\n')
	}
	return dst
}

// Pickle opcodes of protocol 2, which every carbon reads.
const (
	pickleProto      = 0x80
	pickleEmptyList  = ']'
	pickleMark       = '('
	pickleUnicode    = 'X' // 4 bytes of length, little-endian, then UTF-8
	pickleLong1      = 0x8a
	pickleFloat      = 'G' // 8 bytes, big-endian
	pickleTuple2     = 0x86
	pickleAppends    = 'e'
	pickleStop       = '.'
	pickleHeaderSize = 4
)

// GraphitePickle appends one message of carbon's pickle receiver: four bytes of
// length, then a list of (path, (seconds, value)).
func GraphitePickle(dst []byte, samples []sample.Sample) []byte {
	begin := len(dst)
	dst = append(dst, 0, 0, 0, 0, pickleProto, 2, pickleEmptyList, pickleMark)
	for i := range samples {
		s := &samples[i]
		dst = append(dst, pickleUnicode, 0, 0, 0, 0)
		at := len(dst)
		dst = path(dst, s)
		binary.LittleEndian.PutUint32(dst[at-4:], uint32(len(dst)-at))
		dst = append(dst, pickleLong1, 8)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(seconds(s)))
		dst = append(dst, pickleFloat)
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(s.Value))
		dst = append(dst, pickleTuple2, pickleTuple2)
	}
	dst = append(dst, pickleAppends, pickleStop)
	binary.BigEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-pickleHeaderSize))
	return dst
}
