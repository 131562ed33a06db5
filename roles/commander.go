package roles

import (
	"context"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// commander hands the web's commands to the engine and says in the web's terms
// why one was not taken.
type commander struct{ engine *engine.Engine }

// Do carries out actions; see engine.Do.
func (c commander) Do(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	report, err := c.engine.Do(ctx, actions)
	for i := range report.Results {
		report.Results[i].Err = forWeb(report.Results[i].Err)
	}
	return report, forWeb(err)
}

func forWeb(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, engine.ErrRefused):
		return fmt.Errorf("%w: %w", web.ErrInvalid, err)
	case errors.Is(err, engine.ErrBusy), errors.Is(err, engine.ErrStopping), errors.Is(err, engine.ErrNotBegun),
		errors.Is(err, engine.ErrNotForwarded), errors.Is(err, engine.ErrNotOwned):
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	if errors.Is(err, engine.ErrUnconfirmed) {
		return fmt.Errorf("%w: %w", web.ErrUnconfirmed, err)
	}
	return err
}
