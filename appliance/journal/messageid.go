package journal

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
)

// messageIDs gives messages the ids by which the server knows that it has them already.
// An id is the event's own: a command that reaches the log from two processes stands
// there once. Ids that a process counts up are known to whoever reads the log, though,
// and who may write anything there could use them first; these carry a mark that only
// this process can make.
type messageIDs struct {
	prefix string // of the ids of events that this process counts up
	key    [32]byte
}

func newMessageIDs(instance string) messageIDs {
	var m messageIDs
	if instance != "" {
		m.prefix = instance + "-"
	}
	_, _ = rand.Read(m.key[:]) // it never fails
	return m
}

// of returns the id of the message with an event, when so many others of its were taken.
// It is the same each time: an append of unknown outcome is sent again.
func (m *messageIDs) of(id string, taken int) string {
	if taken == 0 && (m.prefix == "" || !strings.HasPrefix(id, m.prefix)) {
		return id
	}
	mac := hmac.New(sha256.New, m.key[:])
	mac.Write([]byte(strconv.Itoa(taken) + " " + id))
	return id + "~" + hex.EncodeToString(mac.Sum(nil)[:12])
}

// at reads the event at a position of the log and its subject, from the leader: a replica
// may lack what was appended just now.
func (j *jetStream) at(seq uint64) (subject string, e event.Event, err error) {
	m, err := j.stored(context.Background(), map[string]any{"seq": seq})
	if err != nil {
		return "", e, err
	}
	if m == nil {
		return "", e, errors.New("it is not there any more")
	}
	err = orForeign(decodeStored(m.Headers, m.Data, &e))
	return m.Subject, e, err
}

// orForeign takes what cannot be read for what nobody has published as an event.
func orForeign(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	return nil
}
