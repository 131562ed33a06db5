package roles

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/export"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/web/wire"
)

// makeFiles makes the writers of -events-out and -snapshot-out. The engine needs
// them, so that they outlive it and see its last decisions.
func (a *appliance) makeFiles(context.Context) error {
	if a.s.EventsOut != "" {
		x := export.NewEvents(export.EventsOptions{
			Path: a.s.EventsOut, Stdout: a.p.Stdout, Source: a.journal,
			Logger: a.p.Logger, Append: appendEvent, Registerer: a.reg,
		})
		a.add(service.Service{Name: "events-out", Needs: []string{"journal"}, Run: x.Run})
	}
	if a.s.SnapshotOut != "" {
		x := export.NewState(export.StateOptions{
			Path: a.s.SnapshotOut, Logger: a.p.Logger, Registerer: a.reg, Usable: a.live.Load,
			Encode: func(w io.Writer) error { return writeState(w, a.proj, a.s.EngineID, time.Now()) },
		})
		a.add(service.Service{Name: "snapshot-out", Needs: []string{"journal"}, Run: x.Run})
	}
	return nil
}

// appendEvent appends an event in the words of the API.
func appendEvent(dst []byte, e *event.Event) []byte {
	line, err := json.Marshal(wire.FromEvent(e))
	if err != nil {
		panic("an event of the log has no JSON form: " + err.Error()) // its fields are texts and numbers
	}
	return append(dst, line...)
}

// writeState writes every object of the running generation as the API shows it.
func writeState(w io.Writer, p *projection.Projection, engineID string, now time.Time) error {
	head := struct {
		Time       wire.Time `json:"time"`
		Generation string    `json:"generation"`
		Epoch      uint64    `json:"epoch"`
		Log        uint64    `json:"log_seq"`
		Results    uint64    `json:"results_seq"`
	}{wire.Stamp(now), p.Set().Generation, p.Epoch(), p.Position().Log, p.Position().Results}
	begin, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if _, err := w.Write(begin[:len(begin)-1]); err != nil {
		return err
	}
	own := &wire.Context{State: p.State, Set: p.Set(), Owner: func(object.ID) string { return engineID }}
	if err := writeItems(w, p, object.Host, "hosts", own); err != nil {
		return err
	}
	if err := writeItems(w, p, object.Service, "services", own); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n}\n")
	return err
}

func writeItems(w io.Writer, p *projection.Projection, kind object.Kind, list string, c *wire.Context) error {
	columns := wire.Columns(kind)
	buf, first := []byte(",\n\""+list+"\":["), true
	for _, o := range p.Set().Objects {
		if o.Kind() != kind {
			continue
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		item := projection.Item{Object: o, State: p.State(o.ID)}
		buf = wire.AppendItem(append(buf, '\n'), &item, columns, c)
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err := w.Write(append(buf, ']'))
	return err
}
