package bus

import "log/slog"

// rooms are how many free bytes are told of, once each while it gets less.
var rooms = []int64{64 << 20, 256 << 20, roomLow}

// diskRoom tells of a disk that fills up before it is full.
type diskRoom struct {
	data string
	free func(string) (int64, error)
	log  *slog.Logger
	set  func(float64)
	told int64 // the least of rooms that was told of, 0 = none
}

func newRoom(b *Bus) *diskRoom {
	r := &diskRoom{data: b.opts.Data, free: b.opts.free, log: b.log, set: b.metrics.free.Set}
	if free, err := r.free(r.data); err == nil {
		r.set(float64(free))
		r.told, _ = lessRoom(free, 0) // the start has told of it
	}
	return r
}

// look measures, and warns where less is free than was told of before.
func (r *diskRoom) look() {
	free, err := r.free(r.data)
	if err != nil {
		return // whoever watches the folder says what is wrong with it
	}
	r.set(float64(free))
	now, less := lessRoom(free, r.told)
	switch {
	case less:
		r.log.Warn("the disk of the log is filling up: when it is full this process ends; make room, or move the data folder to a larger disk",
			"folder", r.data, "free_mib", free>>20)
	case now == 0 && r.told != 0:
		r.log.Info("the disk of the log has room again", "folder", r.data, "free_mib", free>>20)
	}
	r.told = now
}

// lessRoom returns the least of rooms that a disk is below, 0 = none, and whether that is
// less than was told of. What was told of counts until a quarter more is free, so that a
// disk at a limit is told of once.
func lessRoom(free, told int64) (now int64, less bool) {
	for _, limit := range rooms {
		bound := limit
		if told != 0 && limit >= told {
			bound += limit / 4
		}
		if free < bound {
			return limit, told == 0 || limit < told
		}
	}
	return 0, false
}
