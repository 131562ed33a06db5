package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
)

// How long a command waits for the other members to know what it has changed.
const (
	membersWait  = 15 * time.Second
	membersPause = 300 * time.Millisecond
)

// clusterOf is what the member that serves a data folder says of its cluster, and the sum
// of the users in the folder; nil for a folder that is no member's.
func clusterOf(ctx context.Context, data string) (*cluster.Report, string, error) {
	records, err := access.In(data).Records()
	if err != nil {
		return nil, "", err
	}
	o := clusterOptions{data: data}
	r, err := o.ask(ctx, io.Discard, cluster.Question{})
	if err == nil || !errors.Is(err, bus.ErrNoDoor) && !errors.Is(err, cluster.ErrSilent) {
		return r, access.Sum(records), err
	}
	if _, none := cluster.Read(data); errors.Is(none, cluster.ErrNone) {
		return nil, "", nil
	}
	return nil, "", err
}

// tellMembers waits until the other members of a cluster know the users of this folder,
// and says who does not. It returns those of which that is not known.
func tellMembers(data string, stderr io.Writer) (missing []string) {
	ctx, stop := untilInterrupted()
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, membersWait)
	defer cancel()
	var know, unsure, away []string
	for {
		r, sum, err := clusterOf(ctx, data)
		switch {
		case err != nil && ctx.Err() == nil && !cluster.Refused(err):
			fmt.Fprintf(stderr, "jaque: the other members of the cluster learn of it as soon as this one runs; it is not known to them now: %v\n", err)
			return []string{"the other members"}
		case r == nil && err == nil:
			return nil
		case err == nil:
			if know, unsure, away = r.Knowing(sum); len(unsure) == 0 {
				return tellKnowing(stderr, know, nil, away)
			}
		}
		select {
		case <-time.After(membersPause):
		case <-ctx.Done():
			if len(know)+len(unsure)+len(away) == 0 {
				unsure = []string{"the other members"}
			}
			return tellKnowing(stderr, know, unsure, away)
		}
	}
}

// tellKnowing says which members know, and which do not or have not said so.
func tellKnowing(stderr io.Writer, know, unsure, away []string) (missing []string) {
	if len(know) > 0 {
		fmt.Fprintf(stderr, "jaque: these members of the cluster know it: %s\n", strings.Join(know, ", "))
	}
	if len(unsure) > 0 {
		fmt.Fprintf(stderr, "jaque: these do not know it, or have not said so in time: %s; \"jaque cluster status\" and their log lines say more\n", strings.Join(unsure, ", "))
	}
	if len(away) > 0 {
		fmt.Fprintf(stderr, "jaque: these cannot be reached and learn of it when they are back: %s\n", strings.Join(away, ", "))
	}
	return slices.Concat(unsure, away)
}

// counts tells whether a user that was made here is the one of its name: of two that were
// made at two members at once the later one counts.
func counts(data, name, key string) error {
	all, err := access.In(data).List()
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Name == name && r.Key == key {
			return nil
		}
	}
	return fmt.Errorf("%s was made or revoked at another member of the cluster at the same moment, and that counts: "+
		"the key that was made here lets nobody in, its file is removed; \"jaque credentials list\" shows the users, another name goes with -id", name)
}

// tellDifference says which members of the cluster have other users than a folder.
func tellDifference(data string, stderr io.Writer) {
	ctx, stop := untilInterrupted()
	defer stop()
	r, sum, err := clusterOf(ctx, data)
	if err != nil {
		fmt.Fprintf(stderr, "jaque: whether the other members of the cluster know the same users is not known: %v\n", err)
		return
	}
	if r == nil {
		return
	}
	for _, m := range r.Members {
		if m.Online && m.Users != nil && m.Users.Sum != sum {
			fmt.Fprintf(stderr, "jaque: member %s knows other users, %d of them; that passes within seconds, or its log lines say why not\n", m.ID, m.Users.Count)
		}
	}
}
