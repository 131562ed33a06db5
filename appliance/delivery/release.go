package delivery

import (
	"fmt"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// release says on the log, if there is something to say, that this process begins with
// nothing for contacts that others have now, and what of theirs may have been sent. The
// caller has let go of them.
func (d *Delivery) release(left bool) {
	r := d.opt.Release(left)
	if r == nil {
		return
	}
	for id, q := range d.requests {
		had := r.Had != nil && r.Had(q.Contact) && (left || !d.opt.Owner(q.Contact))
		if had && (q.doubtful() || !q.judged && q.Seq <= r.From) {
			r.Name(id)
		}
	}
	d.said++
	e := &event.Event{
		Version: event.Version, ID: "released/" + r.Instance + "/" + strconv.Itoa(d.said), Kind: event.NotificationReleased,
		Epoch: r.Epoch, Writer: r.ID, Instance: r.Instance, Time: object.At(time.Now()), Facts: r.Facts(),
		Text: released(r),
	}
	e.Facts["topic"] = "delivery"
	d.write(e)
}

// released tells people what a release says.
func released(r *deliver.Release) string {
	what := r.ID + " lets go of contacts that others have now"
	if r.Left {
		what = r.ID + " stops and leaves its contacts to others"
	}
	switch n := len(r.Doubt); {
	case len(r.Owners) == 0:
		return what + "; what is due may have been sent already"
	case n == 1:
		return what + "; 1 notification may have been sent already"
	case n > 1:
		return fmt.Sprintf("%s; %d notifications may have been sent already", what, n)
	}
	return what
}

// doubtful tells whether a request may have been sent already, by this process or by
// one before. What is settled is so until the log has its outcome.
func (r *request) doubtful() bool {
	return r.before || r.tried() || r.place == sending || r.place == settled
}
