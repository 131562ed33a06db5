package cluster

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Standing asks all members once what concerns a machine that wants to join: for how long
// its id cannot come back, as the member knows it that saw the removal last, for which
// other machine it is kept, and which member has the address that it names. Case does not
// count. A machine that was let in with that address under another id may be the same one.
func (a *Answers) Standing(ctx context.Context, id, address string) Standing {
	s := Standing{Barred: a.Keeper.Barred()[id]}
	st, err := a.Keeper.Status(ctx)
	if err != nil && st.Cluster == "" {
		return s
	}
	members := online(&st)
	said := a.ask(ctx, &st)
	names := make([]string, 0, len(said))
	for name := range said {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o := said[name]
		s.Barred = max(s.Barred, o.Barred[id])
		if members[name] && strings.EqualFold(o.Address, address) {
			s.Holder = name
		}
		for other, in := range o.Admitted {
			if strings.EqualFold(other, id) && time.Now().Before(in.Until) {
				s.Admitted = in.Listen
			}
		}
	}
	return s
}
