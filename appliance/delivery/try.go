package delivery

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/near"
)

// TestOutcome is what became of a message that somebody sent to try a channel.
type TestOutcome struct {
	Channel string
	Err     error // nil = it was taken
	Took    time.Duration
}

// Test sends one marked message to a contact over a channel, "" = over each. It is
// not on the log. The error says that there is no such contact or channel.
func (d *Delivery) Test(ctx context.Context, contact, name string) ([]TestOutcome, error) {
	set := d.opt.Projection.Set()
	c := set.Contacts[contact]
	if c == nil {
		return nil, fmt.Errorf("there is no contact %q%s", contact, didYouMean(contact, names(set.Contacts)))
	}
	over := channelsOf(c)
	switch {
	case len(over) == 0:
		return nil, fmt.Errorf("contact %q has no channel; give it an email address or another one", contact)
	case name != "" && !slices.Contains(over, name):
		return nil, fmt.Errorf("contact %q has no channel %q, only %s", contact, name, strings.Join(over, ", "))
	case name != "":
		over = []string{name}
	}
	d.trying.Lock()
	defer d.trying.Unlock()
	all := make([]TestOutcome, len(over))
	var ended sync.WaitGroup
	for i, name := range over {
		ended.Go(func() { all[i] = d.try(ctx, c, name) })
	}
	ended.Wait()
	return all, nil
}

func (d *Delivery) try(ctx context.Context, c *object.Contact, name string) TestOutcome {
	id := "test-" + rand.Text()
	m := &message.Message{
		ID: id, Thread: id, Contact: c, Channel: name, Test: true,
		URL: d.opt.URL(), Version: d.opt.Version, Now: object.At(time.Now()),
	}
	s := d.deliver(ctx, &deliver.Batch{Contact: c.Name, Channel: name}, m)
	d.metrics.tests.WithLabelValues(kindOf(name), s.outcome()).Inc()
	if s.err != nil {
		d.log.Warn("a test message could not be sent", "contact", c.Name, "channel", name, "err", s.err)
	} else {
		d.log.Info("a test message was sent", "contact", c.Name, "channel", name, "took", s.took)
	}
	return TestOutcome{Channel: name, Err: s.err, Took: s.took}
}

// channelsOf returns the names of all ways to a contact.
func channelsOf(c *object.Contact) []string {
	if c.Notify == nil {
		return nil
	}
	all := c.Notify.Over(object.Host)
	for _, name := range c.Notify.Over(object.Service) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

func names(contacts map[string]*object.Contact) []string {
	all := make([]string, 0, len(contacts))
	for name := range contacts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func didYouMean(wrong string, known []string) string {
	const slips = 2
	best, at := "", slips+1
	for _, name := range known {
		if n := near.Distance(wrong, name, slips); n < at {
			best, at = name, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
