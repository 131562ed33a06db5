package encode

import (
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/wire"
	"jaque.sh/jaque/appliance/rule/sample"
)

// Sample appends one sample as a JSON object without a line feed: name, time, value
// and, where there are any, labels, unit and "counter": true.
func Sample(dst []byte, s *sample.Sample) []byte {
	dst = wire.String(append(dst, `{"name":`...), s.Name)
	dst = append(dst, `,"time":"`...)
	dst = s.Time.Std().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","value":`...)
	dst = Number(dst, s.Value)
	if len(s.Labels) > 0 {
		dst = labels(append(dst, `,"labels":`...), s.Labels)
	}
	if s.Unit != "" {
		dst = wire.String(append(dst, `,"unit":`...), s.Unit)
	}
	if s.Counter {
		dst = append(dst, `,"counter":true`...)
	}
	return append(dst, '}')
}

// position appends the name of an event on the log, the same at every reading.
func position(dst []byte, stream string, seq uint64) []byte {
	return strconv.AppendUint(append(append(dst, stream...), '-'), seq, 10)
}
