package trial

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// cycle is a period that opens for a while again and again.
type cycle struct {
	name              string
	every, open, from time.Duration
}

func (c *cycle) Name() string { return c.name }

func (c *cycle) String() string {
	return fmt.Sprint(c.name, " ", c.open, " of ", c.every, " from ", c.from)
}

// Window counts from the epoch, so that the same instant is always the same.
func (c *cycle) Window(at object.Time) (inside bool, until object.Time) {
	if c.open >= c.every {
		return true, 0
	}
	in := (at - object.Time(c.from.Milliseconds())) % object.Time(c.every.Milliseconds())
	if in < 0 {
		in += object.Time(c.every.Milliseconds())
	}
	if open := object.Time(c.open.Milliseconds()); in < open {
		return true, at - in + open
	}
	return false, at - in + object.Time(c.every.Milliseconds())
}

// rota passes from one contact to the next; every fifth turn nobody has it.
type rota struct {
	name  string
	first int
	turn  time.Duration
}

func (r *rota) Name() string { return r.name }

func (r *rota) Members() []string { return []string{"ann", "bob", "cid", "dee"} }

func (r *rota) OnCall(at object.Time) (contact, why string, until object.Time) {
	step := object.Time(r.turn.Milliseconds())
	n := at / step
	until = (n + 1) * step
	who := (int(n) + r.first) % 5
	if who == 4 {
		return "", "nobody has the turn", until
	}
	return r.Members()[who], "turn " + fmt.Sprint(who), until
}
