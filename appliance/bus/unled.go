package bus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// unledPatience is how long a stream may be without a leader until that is called
// trouble: choosing one takes up to two seconds and a moment.
const unledPatience = 5 * time.Second

// Unled says in a sentence which streams have no leader, although the cluster has one,
// and whose return they wait for; "" = every stream that this member knows of can be
// written. A cluster that has just grown is like that when a member dies that kept one of
// two copies: the others agree about who is a member, and not about what is in the log.
func (s *Status) Unled() string {
	if !s.Quorum {
		return ""
	}
	online := map[string]bool{}
	for _, m := range s.Members {
		online[m.Name] = m.Online
	}
	var names, keepers, away []string
	for _, x := range s.Streams {
		if x.Leader != "" {
			continue
		}
		names = append(names, x.Name)
		all := x.Others
		if x.Replicas == 0 || len(all) < x.Replicas { // it names the others only
			all = append(slices.Clone(all), Replica{Name: s.Self})
		}
		for _, o := range all {
			if !slices.Contains(keepers, o.Name) {
				keepers = append(keepers, o.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(keepers)
	for _, name := range keepers {
		if !online[name] {
			away = append(away, name)
		}
	}
	text := fmt.Sprintf("nothing is written to %s at present, which has no leader; its copies are at %s", strings.Join(names, ", "), strings.Join(keepers, " and "))
	if len(names) > 1 {
		text = fmt.Sprintf("nothing is written to %s at present, which have no leader; their copies are at %s", strings.Join(names, ", "), strings.Join(keepers, " and "))
	}
	if len(away) == 0 {
		return text + "; they choose one"
	}
	folder := "its data folder"
	if len(away) > 1 {
		folder = "their data folders"
	}
	return fmt.Sprintf("%s, of which %s cannot be reached: start %s again with %s", text, strings.Join(away, " and "), strings.Join(away, " and "), folder)
}

// withElsewhere adds the streams that this member keeps no copy of, as those say who do.
func withElsewhere(here []StreamStatus, words []copyWord, declared []string, online map[string]bool) []StreamStatus {
	for _, name := range declared {
		is := func(s StreamStatus) bool { return s.Name == name }
		if slices.ContainsFunc(here, is) {
			continue
		}
		var said []StreamStatus
		for _, w := range words {
			if i := slices.IndexFunc(w.Streams, is); i >= 0 {
				s := w.Streams[i]
				s.Others = slices.Clone(s.Others)
				if !slices.ContainsFunc(s.Others, func(r Replica) bool { return r.Name == w.Member }) {
					s.Others = append(s.Others, Replica{Name: w.Member})
				}
				said = append(said, s)
			}
		}
		if i := slices.IndexFunc(said, func(s StreamStatus) bool { return online[s.Leader] }); i >= 0 {
			here = append(here, said[i])
		} else if len(said) > 0 {
			s := said[0]
			if s.Leader != "" {
				s.Others, s.Leader = append(s.Others, Replica{Name: s.Leader}), ""
			}
			here = append(here, s)
		}
	}
	return here
}

// watchLeaders notes which streams have had no leader for a while.
func (p *peering) watchLeaders(ctx context.Context, v view) {
	s := Status{Self: p.server.Name(), Quorum: v.quorum(), Members: v.Members}
	var err error
	if s.Streams, err = p.streams(ctx, false); err != nil {
		return
	}
	// The queue's stream is no copy of anything; who uses it says what is wrong with it.
	declared := p.declared()
	s.Streams = slices.DeleteFunc(s.Streams, func(x StreamStatus) bool { return !slices.Contains(declared, x.Name) })
	// Who is away may have kept what this member keeps no copy of.
	if s.Quorum && v.Online < v.Size && len(s.Streams) < len(declared) {
		if words, err := p.askCopies(ctx); err == nil {
			s.Streams = withElsewhere(s.Streams, words, declared, v.online())
		}
	}
	text := s.Unled()
	p.mu.Lock()
	told := p.unled
	p.unledNow = text
	switch {
	case text == "":
		p.unledSince, p.unled = time.Time{}, ""
	case p.unledSince.IsZero():
		p.unledSince = time.Now()
	case time.Since(p.unledSince) >= unledPatience:
		p.unled = text
	}
	now := p.unled
	p.mu.Unlock()
	switch {
	case now != "" && now != told:
		p.b.log.Error("nothing can be written", "why", now)
	case now == "" && told != "":
		p.b.log.Info("every stream has its leader again")
	}
}

// silent is the error of a start whose cluster has a leader, and whose streams did not
// answer for so long.
func (p *peering) silent(err error, after time.Duration) error {
	who := "its members can be reached"
	if away := p.look().away(); len(away) > 0 {
		who = strings.Join(away, " and ") + " cannot be reached"
	}
	return fmt.Errorf("the streams of cluster %s have not answered within %s (%w): %s; nothing is lost: start the members that are away, and this one again", p.at.Name, after, err, who)
}
