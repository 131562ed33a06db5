package delivery

import "time"

// clock notices that the wall clock was set. It belongs to one goroutine.
type clock struct {
	wall   time.Time     // when it was last as it should be
	passed time.Duration // since the start of the process then
	begun  time.Time
}

// noteJump is how far off the wall clock must be to be taken for set: less than that
// matters to no message, and is made up for once it has become more.
const noteJump = time.Second

// now returns the time, and has the planner know if the clock was set meanwhile.
func (d *Delivery) now() time.Time {
	now := time.Now()
	if d.steps.begun.IsZero() {
		d.steps.begun = now
	}
	if by := d.steps.set(now, now.Sub(d.steps.begun)); by != 0 {
		d.log.Warn("the clock was set; what waits to be sent keeps its times", "by", by)
		d.planner.Jump(by)
	}
	return now
}

// set returns by how much the wall clock was set since it was last asked, 0 = it was not.
// passed is the time since some instant by a clock that nobody sets.
func (c *clock) set(wall time.Time, passed time.Duration) (by time.Duration) {
	wall = wall.Round(0) // only what the wall clock says
	if !c.wall.IsZero() {
		if by = wall.Sub(c.wall) - (passed - c.passed); by.Abs() < noteJump {
			return 0
		}
	}
	c.wall, c.passed = wall, passed
	return by
}
