package sink

import (
	"context"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/journal"
)

// Positions keeps how far each sink has come. Any goroutine may call it.
type Positions interface {
	// Load returns the position of a sink and when it was saved; the zero time = it
	// has none yet.
	Load(ctx context.Context, name string) (at journal.Position, saved time.Time, err error)
	// Save keeps the position of a sink for good. Behind what another process has
	// saved since Load it never goes.
	Save(ctx context.Context, name string, at journal.Position) error
}

// Memory keeps positions as long as the process lives, for a log that does not live
// longer. The zero Memory is ready to use.
type Memory struct {
	mu sync.Mutex
	at map[string]saving // guarded by mu
}

type saving struct {
	at    journal.Position
	saved time.Time
}

// Load returns the position of a sink.
func (m *Memory) Load(_ context.Context, name string) (at journal.Position, saved time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.at[name]
	return k.at, k.saved, nil
}

// Save keeps the position of a sink.
func (m *Memory) Save(_ context.Context, name string, at journal.Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == nil {
		m.at = map[string]saving{}
	}
	m.at[name] = saving{at, time.Now()}
	return nil
}
