package encode

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/wire"
	"jaque.sh/jaque/appliance/rule/sample"
)

// noTag stands in for labels where there are none: OpenTSDB insists on one; constant.
var noTag = []sample.Label{{Name: "source", Value: "jaque"}}

func tags(s *sample.Sample) []sample.Label {
	if len(s.Labels) == 0 {
		return noTag
	}
	return s.Labels
}

// OpenTSDB appends lines "put NAME SECONDS VALUE TAG=VALUE …" of the telnet form. Of
// its readers some know no milliseconds there.
func OpenTSDB(dst []byte, samples []sample.Sample) []byte {
	for i := range samples {
		s := &samples[i]
		dst = append(append(append(dst, "put "...), s.Name...), ' ')
		dst = append(strconv.AppendInt(dst, seconds(s), 10), ' ')
		dst = Number(dst, s.Value)
		for _, l := range tags(s) {
			dst = append(append(append(append(dst, ' '), l.Name...), '='), l.Value...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// OpenTSDBJSON appends the body of POST /api/put.
func OpenTSDBJSON(dst []byte, samples []sample.Sample) []byte {
	dst = append(dst, '[')
	for i := range samples {
		s := &samples[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"metric":`...)
		dst = wire.String(dst, s.Name)
		dst = append(strconv.AppendInt(append(dst, `,"timestamp":`...), int64(s.Time), 10), `,"value":`...)
		dst = append(Number(dst, s.Value), `,"tags":`...)
		dst = append(labels(dst, tags(s)), '}')
	}
	return append(dst, ']')
}

// labels appends an object with a member for each label.
func labels(dst []byte, all []sample.Label) []byte {
	dst = append(dst, '{')
	for i, l := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(wire.String(dst, l.Name), ':')
		dst = wire.String(dst, l.Value)
	}
	return append(dst, '}')
}
