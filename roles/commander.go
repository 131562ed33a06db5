package roles

import (
	"context"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// commander hands the web's commands to the engine and says in the web's terms
// why one was not taken.
type commander struct{ engine *engine.Engine }

// CheckNow runs an object's check at once.
func (c commander) CheckNow(ctx context.Context, id object.ID) (string, error) {
	command, err := c.engine.CheckNow(ctx, id)
	return command, forWeb(err)
}

// Submit hands in a result.
func (c commander) Submit(ctx context.Context, id object.ID, r fold.Result) (string, error) {
	command, err := c.engine.Submit(ctx, id, r)
	return command, forWeb(err)
}

func forWeb(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, engine.ErrRefused):
		return fmt.Errorf("%w: %w", web.ErrInvalid, err)
	case errors.Is(err, engine.ErrBusy), errors.Is(err, engine.ErrStopping), errors.Is(err, engine.ErrUnconfirmed):
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	return err
}
