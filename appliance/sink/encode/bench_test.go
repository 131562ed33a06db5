package encode

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/sample"
)

// batch is what a sink of 500 services hands over: four values of each.
func batch(b *testing.B, c sample.Charset, name string, labels map[string]string) []sample.Sample {
	b.Helper()
	r, err := sample.NewMapper(sample.Mapping{Name: name, Labels: labels, Scale: true, Charset: c})
	if err != nil {
		b.Fatal(err)
	}
	var all []sample.Sample
	for i := range 500 {
		e := event.Event{Kind: event.CheckResult, Object: object.ServiceID(fmt.Sprint("host", i%50), fmt.Sprint("service", i/50))}
		e.Measure = &event.Measure{LastCheck: at + object.Time(i), Perfdata: fmt.Sprintf("time=%d.25ms;100;200;0 size=%dB;;;0 /var=%d%%;80;90;0;100 count=%dc", i, 1000*i, i%100, i)}
		all, _ = r.Map(all, nil, &e, nil)
	}
	return all
}

// run encodes batches and tells the cost of a sample.
func run(b *testing.B, samples []sample.Sample, f func(dst []byte, samples []sample.Sample) []byte) {
	b.ReportAllocs()
	var buf []byte
	begin := processor(b)
	for b.Loop() {
		buf = f(buf[:0], samples)
	}
	perSample(b, len(samples), begin)
	b.ReportMetric(float64(len(buf))/float64(len(samples)), "bytes/sample")
}

// processor is the time that the process has had of the processor.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perSample tells what one processor does, however busy the machine is.
func perSample(b *testing.B, n int, begin time.Duration) {
	took, all := (processor(b) - begin).Seconds(), float64(b.N)*float64(n)
	b.ReportMetric(all/took, "samples/cpu-s")
	b.ReportMetric(100_000*took/all, "cpu-s/100k")
}

var plain = map[string]string{"host": "{host}", "service": "{service}", "metric": "{metric}", "unit": "{unit}"}

func BenchmarkInflux(b *testing.B) {
	run(b, batch(b, sample.Text, "jaque_metric", plain), func(dst []byte, s []sample.Sample) []byte { return Influx(dst, s, "value") })
}

func BenchmarkGraphite(b *testing.B) {
	run(b, batch(b, sample.Path, "jaque.{host}.{check}.{metric}", nil), Graphite)
}

func BenchmarkRemoteWrite1(b *testing.B) {
	var w RemoteWrite
	run(b, batch(b, sample.Prometheus, "jaque_metric", plain), w.Version1)
}

func BenchmarkRemoteWrite2(b *testing.B) {
	var w RemoteWrite
	run(b, batch(b, sample.Prometheus, "jaque_metric", plain), func(dst []byte, s []sample.Sample) []byte {
		out, _ := w.Version2(dst, s)
		return out
	})
}

// BenchmarkMap is what comes before every encoder: perfdata to samples.
func BenchmarkMap(b *testing.B) {
	r, err := sample.NewMapper(sample.Mapping{Name: "jaque_metric", Labels: plain, Scale: true})
	if err != nil {
		b.Fatal(err)
	}
	e := event.Event{Kind: event.CheckResult, Object: "web01!http"}
	e.Measure = &event.Measure{LastCheck: at, Perfdata: "time=12.25ms;100;200;0 size=1000B;;;0 /var=50%;80;90;0;100 count=7c"}
	b.ReportAllocs()
	var all []sample.Sample
	begin := processor(b)
	for b.Loop() {
		all, _ = r.Map(all[:0], nil, &e, nil)
	}
	perSample(b, 4, begin)
}
