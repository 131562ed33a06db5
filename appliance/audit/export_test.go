package audit

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
)

// Through is a server whose log is sent by a function instead of the server itself. It
// may take so long to begin.
func Through(b *bus.Bus, patience time.Duration, send func(ctx context.Context, name string, fn func(*backup.Message) error) (*backup.Info, error)) *Server {
	return &Server{Bus: b, stream: send, patience: patience}
}
