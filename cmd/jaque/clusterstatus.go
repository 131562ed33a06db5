package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
)

// ask asks the process that serves the data folder.
func (o *clusterOptions) ask(ctx context.Context, stderr io.Writer, questions ...cluster.Question) (r *cluster.Report, err error) {
	b, err := o.open(ctx, stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(ctx))) }()
	for _, q := range questions {
		if r, err = cluster.Ask(ctx, b.Conn(), q); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (o *clusterOptions) status(stdout, stderr io.Writer) error {
	ctx, stop := untilInterrupted()
	defer stop()
	r, err := o.ask(ctx, stderr, cluster.Question{})
	if err != nil {
		return err
	}
	if o.form == "json" {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return printReport(stdout, r)
}

// remove takes a member out after a look at whether it runs.
func (o *clusterOptions) remove(id string, stdout, stderr io.Writer) error {
	ctx, stop := untilInterrupted()
	defer stop()
	r, err := o.ask(ctx, stderr, cluster.Question{})
	switch {
	case err == nil && !r.Has(r.Self):
		return fmt.Errorf("cluster remove: %s: %w", r.Self, cluster.ErrOutside)
	case err == nil && !r.Has(id):
		return o.removed(ctx, r, id, stdout, stderr)
	case err == nil:
		err = o.mayRemove(r, id)
	case o.lost && (errors.Is(err, cluster.ErrSilent) || errors.Is(err, bus.ErrNoDoor)):
		return o.lose(id, stdout, stderr) // it waits for those who are gone, or has stopped
	}
	if err != nil {
		return err
	}
	alone := o.lost && !r.Quorum // with one nothing is kept for the next start: it is done now, or not
	if alone {
		if err := o.lose(id, io.Discard, stderr); err != nil {
			return err
		}
	}
	if r, err = o.ask(ctx, stderr, cluster.Question{Remove: id, Lost: o.lost}); err != nil && alone {
		return fmt.Errorf("%w; that %s is gone is kept: write the same for each other one that never comes back, or start those that do; after a restart of the member on %s it goes on without %s too", err, id, o.data, id)
	}
	if errors.Is(err, cluster.ErrSilent) || errors.Is(err, bus.ErrNoDoor) { // it answered a moment ago
		return fmt.Errorf("cluster remove: %w", cluster.ErrEnded)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s is no member of cluster %s any more; delete its data folder, and do not start jaque on it again\n", id, r.Cluster)
	if r.Left != "" {
		fmt.Fprintln(stderr, "jaque: WARNING: "+r.Left)
	}
	if o.lost {
		for _, text := range r.Missing {
			fmt.Fprintln(stderr, "jaque: WARNING: "+text)
		}
	}
	for _, text := range r.Outlook {
		fmt.Fprintln(stdout, text)
	}
	return nil
}

// removed asks about one that is no member: a command that somebody else wrote a moment
// ago, or this one at an earlier attempt, may have removed it.
func (o *clusterOptions) removed(ctx context.Context, r *cluster.Report, id string, stdout, stderr io.Writer) error {
	if _, err := o.ask(ctx, stderr, cluster.Question{Remove: id}); err != nil {
		return o.mayRemove(r, id)
	}
	fmt.Fprintf(stdout, "%s was removed from cluster %s already; delete its data folder, and do not start jaque on it again. A machine that was let in under this name since then, and has not started yet, can still become a member\n", id, r.Cluster)
	return nil
}

// lose keeps for the next start that a member never comes back.
func (o *clusterOptions) lose(id string, stdout, stderr io.Writer) error {
	if err := cluster.Lose(o.data, id); err != nil {
		return fmt.Errorf("cluster remove: %w", err)
	}
	fmt.Fprintf(stderr, "jaque: %s is removed without a majority; never start it again with its data folder: as long as it does not reach the others, two clusters would write two logs\n", id)
	fmt.Fprintf(stdout, "start the member on %s (or restart it): it goes on without %s\n", o.data, id)
	return nil
}

// mayRemove says why a member is not removed, or not so.
func (o *clusterOptions) mayRemove(r *cluster.Report, id string) error {
	var ids []string
	for _, m := range r.Members {
		ids = append(ids, m.ID)
		if m.ID != id {
			continue
		}
		switch {
		case id == r.Self:
			return fmt.Errorf("cluster remove: %s is the member that was asked; write the command at another one", id)
		case m.Online && o.lost:
			return fmt.Errorf("cluster remove: %s is running and can be reached; -lost is for members that never come back", id)
		case m.Online && !o.yes:
			return fmt.Errorf("cluster remove: %s is running; its process ends when it is removed, and its data folder is of no use any more: add -yes if that is wanted", id)
		case !r.Quorum && !o.lost:
			return fmt.Errorf("cluster remove: there is no quorum, so that nothing can be decided; start members that are down, or, if %s never comes back with its data folder, add -lost", id)
		}
		return nil
	}
	return fmt.Errorf("cluster remove: cluster %s has no member %q; its members are %s", r.Cluster, id, strings.Join(ids, ", "))
}

// printReport writes a report for people.
func printReport(out io.Writer, r *cluster.Report) error {
	quorum := "yes"
	if !r.Quorum {
		quorum = "NO"
	}
	fmt.Fprintf(out, "cluster %s, seen by %s; quorum: %s; leader: %s\n", r.Cluster, r.Self, quorum, orNone(r.Leader))
	for _, text := range r.Trouble {
		fmt.Fprintln(out, "trouble: "+text)
	}
	for _, text := range r.Outlook {
		fmt.Fprintln(out, text)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printMembers(t, r)
	fmt.Fprintln(t, "\nSTREAM\tLEADER\tCOPIES\tLAST\tSIZE\tOTHERS")
	for _, s := range r.Streams {
		fmt.Fprintf(t, "%s\t%s\t%d/%d\t%d\t%s\t%s\n", s.Name, orNone(s.Leader), s.Copies, r.Copies, s.Last, sizeText(int64(s.Bytes)), copies(s.Others))
	}
	for _, token := range r.Tokens {
		what := "a machine"
		if token.Witness {
			what = "a witness"
		}
		fmt.Fprintf(t, "\na token is out: %s can join at %s until %s\n", what, token.Address, token.Expires.Local().Format("15:04:05 MST"))
	}
	for _, in := range r.Admitted {
		fmt.Fprintf(t, "\na machine was let in and has not started yet: %s, at %s; its id is kept for it until %s\n", in.ID, in.Address, in.Until.Local().Format("15:04:05 MST"))
	}
	return t.Flush()
}

func printMembers(t io.Writer, r *cluster.Report) {
	owned := map[string]cluster.Engine{}
	all := 0
	fmt.Fprint(t, "\nMEMBER\tADDRESS\tSTATE\tOBJECTS\tCONFIG\n")
	if r.Engines != nil {
		for _, e := range r.Engines.Members {
			owned[e.ID] = e
			all += e.Objects
		}
	}
	for _, m := range r.Members {
		state, share, generation := "online", "-", "-"
		if !m.Online {
			state = "AWAY"
		}
		if m.Leader {
			state += ", leader"
		}
		if m.Witness {
			state += ", witness"
		}
		if m.Drill {
			state += ", out for a drill"
		}
		if e, ok := owned[m.ID]; ok && e.Live {
			share, generation = fmt.Sprintf("%d of %d", e.Objects, all), e.Generation[:min(len(e.Generation), 8)]
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.ID, orNone(m.Address), state, share, orNone(generation))
	}
	for _, e := range r.Outside() {
		state := "no member, an engine that reaches the log"
		if !e.Expires.IsZero() {
			state = "no member, not heard"
		}
		fmt.Fprintf(t, "%s\t-\t%s\t%d of %d\t%s\n", e.ID, state, e.Objects, all, orNone(e.Generation[:min(len(e.Generation), 8)]))
	}
	if r.Engines != nil {
		fmt.Fprintf(t, "engines share the objects under epoch %d\n", r.Engines.Epoch)
	}
}

func copies(others []cluster.Copy) string {
	var all []string
	for _, c := range others {
		text := c.Member
		switch {
		case !c.Online:
			text += " AWAY"
		case c.Lag > 0:
			text += fmt.Sprintf(" -%d", c.Lag)
		}
		all = append(all, text)
	}
	return orNone(strings.Join(all, ", "))
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
