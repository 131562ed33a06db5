package web

import (
	"time"

	"jaque.sh/jaque/web/sample"
)

// telling returns the options of a process that tells people, with a canary.
func telling(s *sample.Site) Options {
	o := options(s)
	o.Canary = func() Canary {
		return Canary{Enabled: true, Every: time.Minute, Last: sample.Now.Add(-20 * time.Second)}
	}
	return o
}
