package cluster

import (
	"context"
	"time"
)

// Barred tells for how long a name cannot come back that was taken out of the cluster, as
// the member knows it that saw the removal last; 0 = it can.
func (a *Answers) Barred(ctx context.Context, id string) time.Duration {
	left := a.Keeper.Barred()[id]
	st, err := a.Keeper.Status(ctx)
	if err != nil && st.Cluster == "" {
		return left
	}
	for _, s := range a.ask(ctx, &st) {
		left = max(left, s.Barred[id])
	}
	return left
}
