package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
)

const (
	// drillHold is how long a member is out for a drill if nothing else is said.
	drillHold = 30 * time.Second
	// drillLook is how often a drill is looked at, drillSilent for how long its member may
	// not answer.
	drillLook   = 300 * time.Millisecond
	drillSilent = 10 * time.Second
	// drillBegins is how long a member may take to step out.
	drillBegins = 30 * time.Second
	// worstMoves is how many objects a report names.
	worstMoves = 10
)

// drill moves the objects of a member away and back and reports the gaps.
func (o *clusterOptions) drill(stdout, stderr io.Writer) (err error) {
	if o.hold < 5*time.Second || o.hold > 10*time.Minute {
		return clusterUsage("-hold %s: write 5s to 10m", o.hold)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	b, err := o.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(ctx))) }()
	r, err := cluster.Ask(ctx, b.Conn(), cluster.Question{})
	if err != nil {
		return err
	}
	if o.member == "" {
		o.member = r.Self
	}
	if err := o.mayDrill(r); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "jaque: member %s gives its objects to the others for %s at most; it comes back by itself, also if this command ends\n", o.member, o.hold)
	if err := o.beginDrill(ctx, b); err != nil {
		return err
	}
	d, err := o.followDrill(ctx, b, stderr)
	if err != nil {
		return err
	}
	if err := o.printDrill(stdout, d); err != nil {
		return err
	}
	return judgeDrill(d)
}

// author is who asks, for the log.
func author() string {
	host, err := os.Hostname()
	if err != nil {
		return login()
	}
	return login() + "@" + host
}

// mayDrill says why a member is not drilled.
func (o *clusterOptions) mayDrill(r *cluster.Report) error {
	engines := map[string]bool{}
	var ids []string
	if r.Engines != nil {
		for _, e := range r.Engines.Members {
			if e.Live {
				engines[e.ID], ids = true, append(ids, e.ID)
			}
		}
	}
	known, away := false, ""
	for _, m := range r.Members {
		if m.Drill && m.ID != o.member {
			away = m.ID
		}
		if m.ID != o.member {
			continue
		}
		switch known = true; {
		case m.Witness:
			return fmt.Errorf("cluster drill: %s is a witness, which owns no objects; name one of %s with -member", m.ID, strings.Join(ids, ", "))
		case !m.Online:
			return fmt.Errorf("cluster drill: %s is away, the others have its objects already; name one of %s with -member", m.ID, strings.Join(ids, ", "))
		}
	}
	switch {
	case !known:
		return fmt.Errorf("cluster drill: cluster %s has no member %q; name one of %s with -member", r.Cluster, o.member, strings.Join(ids, ", "))
	case !r.Quorum:
		return errors.New("cluster drill: there is no quorum, so that nothing can be moved; start members that are down")
	case !engines[o.member]:
		return fmt.Errorf("cluster drill: the engine of %s does not share the objects at present: it is starting, or out for a drill already; look at jaque cluster status", o.member)
	case len(ids) < 2 && away != "":
		return fmt.Errorf("cluster drill: %s is the only engine at present, %s is out for a drill; wait until it is back", o.member, away)
	case len(ids) < 2:
		return fmt.Errorf("cluster drill: %s is the only engine, nobody would take its objects over; make another machine a member first: jaque cluster token, and there jaque cluster join TOKEN -cluster-listen HOST:PORT", o.member)
	case o.yes:
		return nil
	}
	return fit(r)
}

// fit says why a cluster is in no state for a drill.
func fit(r *cluster.Report) error {
	const more = "; mend that first, or add -yes if the drill is wanted all the same"
	for _, m := range r.Members {
		if !m.Online {
			return fmt.Errorf("cluster drill: member %s is away, those that are left would do the work of two%s", m.ID, more)
		}
	}
	for _, s := range r.Streams {
		if !s.Whole {
			return fmt.Errorf("cluster drill: not every copy of %s is there and filled%s", s.Name, more)
		}
	}
	return nil
}

// beginDrill has a member step out. One that does not answer any more has ended.
func (o *clusterOptions) beginDrill(ctx context.Context, b *bus.Bus) error {
	one, cancel := context.WithTimeout(ctx, drillBegins)
	defer cancel()
	_, err := cluster.AskDrill(one, b.Conn(), o.member, cluster.DrillOrder{Hold: o.hold, By: author()})
	switch {
	case ctx.Err() != nil:
		return o.notWaited()
	case one.Err() != nil || err != nil && !b.Conn().IsConnected():
		return fmt.Errorf("cluster drill: %s (%w)", cluster.Ended(o.member), err)
	case err != nil:
		return fmt.Errorf("cluster drill: %w", err)
	}
	return nil
}

func (o *clusterOptions) notWaited() error {
	return fmt.Errorf("cluster drill: not waited for; %s comes back by itself within %s", o.member, o.hold)
}

// followDrill waits until a drill is over.
func (o *clusterOptions) followDrill(ctx context.Context, b *bus.Bus, stderr io.Writer) (*cluster.DrillReport, error) {
	told, answered := false, time.Now()
	for {
		select {
		case <-time.After(drillLook):
		case <-ctx.Done():
			return nil, o.notWaited()
		}
		one, cancel := context.WithTimeout(ctx, drillSilent)
		d, err := cluster.AskDrill(one, b.Conn(), o.member, cluster.DrillOrder{})
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil && time.Since(answered) > drillSilent:
			return nil, fmt.Errorf("cluster drill: %s (%w)", cluster.Ended(o.member), err)
		case err != nil:
		case !d.Ended.IsZero():
			return d, nil
		default:
			if answered = time.Now(); !told && !d.Back.IsZero() {
				told = true
				fmt.Fprintf(stderr, "jaque: %s is back after %s, its objects return\n", o.member, d.Back.Sub(d.Out).Round(time.Millisecond))
			}
		}
	}
}

// drillReport is the report for programs.
type drillReport struct {
	*cluster.DrillReport
	Over   time.Duration        `json:"over,omitempty"` // that it was out for longer than asked
	Away   cluster.DrillSummary `json:"away"`
	Return cluster.DrillSummary `json:"return"`
}

func (o *clusterOptions) printDrill(out io.Writer, d *cluster.DrillReport) error {
	away, back := d.Summary(false, worstMoves), d.Summary(true, worstMoves)
	if o.form == "json" {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(drillReport{d, d.Over(), away, back})
	}
	switch {
	case d.Out.IsZero():
		fmt.Fprintf(out, "member %s did not step out\n\n", d.Member)
	case d.Back.IsZero():
		fmt.Fprintf(out, "member %s did not come back\n\n", d.Member)
	default:
		fmt.Fprintf(out, "member %s was out for %s\n\n", d.Member, d.Back.Sub(d.Out).Round(time.Millisecond))
	}
	if over := d.Over(); over > 0 {
		fmt.Fprintf(out, "that is %s longer than -hold %s: joining again took that long, since the log server did not answer in time; its log lines say more\n\n",
			over.Round(time.Millisecond), d.Hold)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "WAY\tOBJECTS\tCHECKED\tP50\tP99\tMAX\tNOT CHECKED\n")
	for _, way := range []struct {
		name string
		cluster.DrillSummary
	}{{"to the others", away}, {"back", back}} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%d\n", way.name, way.Objects, way.Checked, way.P50, way.P99, way.Max, way.Missed)
	}
	if len(away.Worst)+len(back.Worst) > 0 {
		fmt.Fprint(t, "\nOBJECT\tWAY\tDUE\tCHECKED\tBY\tGAP\n")
		printMoves(t, "to the others", away.Worst)
		printMoves(t, "back", back.Worst)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if away.Checked == 0 && away.Missed == 0 {
		fmt.Fprintf(out, "\nno check fell due meanwhile: a longer -hold than %s tells more\n", o.hold)
	}
	return nil
}

func printMoves(t io.Writer, way string, moves []cluster.Move) {
	const clock = "15:04:05.000"
	for i := range moves {
		m := &moves[i]
		checked, gap := "NO", "-"
		if d, ok := m.Gap(); ok {
			checked, gap = m.First.Local().Format(clock), d.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Object, way, m.Due.Local().Format(clock), checked, orNone(m.By), gap)
	}
}

// judgeDrill says what a drill has shown to be wrong.
func judgeDrill(d *cluster.DrillReport) error {
	away, back := d.Summary(false, 0), d.Summary(true, 0)
	switch {
	case d.Error != "":
		return fmt.Errorf("cluster drill: %s", d.Error)
	case away.Missed > 0:
		return fmt.Errorf("cluster drill: %d checks that fell due were not run by the others; look at their load and their logs", away.Missed)
	case back.Missed > 0:
		return fmt.Errorf("cluster drill: %d checks that fell due were not run by %s after it was back; look at its load and its log", back.Missed, d.Member)
	}
	return nil
}

// open connects to the process that serves the data folder.
func (o *clusterOptions) open(ctx context.Context, stderr io.Writer) (*bus.Bus, error) {
	b, err := bus.Open(ctx, bus.Options{Logger: quiet(stderr), ClientName: "jaque cluster", Through: o.data})
	if errors.Is(err, bus.ErrNoDoor) {
		return nil, fmt.Errorf("%w: start the member there first, or name another folder with -data", err)
	}
	return b, err
}
