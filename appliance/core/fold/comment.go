package fold

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
)

// addComment adds what an operator remarks.
func (d *decider) addComment(c AddComment) (Decision, error) {
	if c.Expires != 0 && c.Expires <= d.now {
		return Decision{}, refuse(d.env, BadCommand, "the comment would have expired at %s; give a time to come", stampText(c.Expires))
	}
	if err := d.fits("a comment", c.Author, c.Text); err != nil {
		return Decision{}, err
	}
	at := d.orNow(c.Entry)
	if !c.Persistent {
		at = max(at, d.env.Started) // it is one of this run, however late it was read
	}
	d.note("comment", d.comment(event.Comment{
		Kind: event.CommentUser, Author: c.Author, Text: c.Text, Time: at, Expires: c.Expires, Persistent: c.Persistent,
	}))
	return d.said(event.CommentAdded, c.Author, c.Text), nil
}

// comment adds a comment with an identity and a number of its own and returns
// the former.
func (d *decider) comment(c event.Comment) (id string) {
	c.ID, c.Number = d.name(), d.env.Comment
	x := d.extra()
	x.Comments = append(slices.Clip(x.Comments), c)
	return c.ID
}

// removeComments removes one comment, or all of the object's. What a downtime
// says is part of the downtime.
func (d *decider) removeComments(c RemoveComments) (Decision, error) {
	one := c.ID != "" || c.Number != 0
	gone := d.dropComments(func(w *event.Comment) bool {
		return (c.ID == "" || w.ID == c.ID) && (c.Number == 0 || w.Number == c.Number)
	})
	switch {
	case gone == nil && one:
		return Decision{}, refuse(d.env, BadCommand, "the %s has no comment %s", d.env.Object.Kind(), which(c.ID, c.Number))
	case gone == nil:
		return Decision{}, nil
	}
	return d.said(event.CommentRemoved, c.Author, gone[0].Text), nil
}

// lost tells whether a comment is one that does not outlast a restart, and was made
// before the engine that cares for the object began to. An engine that takes the
// object over and has run for longer than the comment exists keeps it.
func lost(env *Env, c *event.Comment) bool {
	return c.Kind == event.CommentUser && !c.Persistent && c.Time < env.Started
}

// expireComments removes those whose time has come and returns them.
func (d *decider) expireComments() (gone []event.Comment) {
	expired := func(c *event.Comment) bool { return c.Expires != 0 && c.Expires <= d.now }
	gone = d.dropComments(func(c *event.Comment) bool { return expired(c) || lost(d.env, c) })
	if gone != nil {
		why := "restarted"
		if slices.ContainsFunc(gone, func(c event.Comment) bool { return expired(&c) }) {
			why = "expired"
		}
		d.note(why, "true")
		d.also = append(d.also, event.CommentRemoved)
	}
	return gone
}

// dropComments removes the comments that fit and returns them.
func (d *decider) dropComments(fits func(*event.Comment) bool) []event.Comment {
	if d.next.Extra == nil {
		return nil
	}
	left, gone := without(d.next.Extra.Comments, fits)
	if gone != nil {
		d.extra().Comments = left
		d.note("comments", list(gone, func(c *event.Comment) string { return c.ID }))
	}
	return gone
}

// list writes the names of several things as one fact.
func list[T any](all []T, name func(*T) string) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = name(&all[i])
	}
	return strings.Join(names, ",")
}
