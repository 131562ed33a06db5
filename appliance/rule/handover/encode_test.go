package handover

// encode appends the canonical bytes of a state: equal states give equal bytes, and
// what a stopped engine does not remember takes none.
func (w *world) encode(b []byte, m *model) []byte {
	flags := w.nnet<<4 | w.resets<<1
	if w.lost {
		flags |= 1
	}
	b = append(b, w.nlog|w.nviews<<4, flags)
	if m.removals > 0 {
		b = append(b, w.removals, w.removed[0]|w.removed[1]<<4)
	}
	for i := range w.nlog {
		b = w.log[i].encode(b)
	}
	for i := range w.nnet {
		b = append(w.net[i].encode(b), w.net[i].expect)
	}
	for i := range w.nviews {
		b = append(b, w.views[i].epoch, w.views[i].members)
	}
	for i := range m.engines {
		b = w.engine[i].encode(b, m)
	}
	return b
}

func bit(is bool, at uint) uint8 {
	if is {
		return 1 << at
	}
	return 0
}

func (e *entry) encode(b []byte) []byte {
	who := e.object | e.writer<<1 | bit(e.own, 3) | bit(e.awaited, 4) | bit(e.former, 5)
	return append(b, who, e.epoch, e.prev, uint8(e.body>>8), uint8(e.body))
}

func (e *engine) encode(b []byte, m *model) []byte {
	b = append(b, bit(e.up, 0)|bit(e.cut, 1)|e.view<<2|e.pos<<5)
	if !e.up {
		return b
	}
	if m.split {
		b = append(b, e.with)
	}
	for i := range m.objects {
		h := &e.held[i]
		b = append(b, uint8(h.body>>8), uint8(h.body), uint8(h.past>>16), uint8(h.past>>8), uint8(h.past), h.fence, h.sub|h.acked<<4)
		o := &h.write
		b = append(b, uint8(o.phase)|bit(o.refused, 3)|bit(o.asked, 4))
		if o.phase != free {
			b = append(b, o.expect|o.until<<4, o.epoch, o.prev, uint8(o.body>>8), uint8(o.body))
		}
	}
	return b
}

// reader reads back what encode wrote.
type reader struct{ b []byte }

func (r *reader) one() uint8 {
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

func (r *reader) two() uint16 { return uint16(r.one())<<8 | uint16(r.one()) }

func (w *world) decode(b []byte, m *model) {
	*w = world{}
	r := &reader{b}
	sizes, flags := r.one(), r.one()
	w.nlog, w.nviews, w.nnet = sizes&15, sizes>>4, flags>>4
	w.lost, w.resets = flags&1 != 0, flags>>1&7
	if m.removals > 0 {
		w.removals = r.one()
		x := r.one()
		w.removed[0], w.removed[1] = x&15, x>>4
	}
	for i := range w.nlog {
		w.log[i].decode(r)
	}
	for i := range w.nnet {
		w.net[i].decode(r)
		w.net[i].expect = r.one()
	}
	for i := range w.nviews {
		w.views[i].epoch, w.views[i].members = r.one(), r.one()
	}
	for i := range m.engines {
		w.engine[i].decode(r, m)
	}
}

func (e *entry) decode(r *reader) {
	who := r.one()
	e.object, e.writer, e.own, e.awaited, e.former = who&1, who>>1&3, who>>3&1 != 0, who>>4&1 != 0, who>>5&1 != 0
	e.epoch, e.prev, e.body = r.one(), r.one(), r.two()
}

func (e *engine) decode(r *reader, m *model) {
	x := r.one()
	e.up, e.cut, e.view, e.pos = x&1 != 0, x&2 != 0, x>>2&7, x>>5
	if !e.up {
		return
	}
	if e.with = e.view; m.split {
		e.with = r.one()
	}
	for i := range m.objects {
		h := &e.held[i]
		h.body = r.two()
		h.past = uint32(r.one())<<16 | uint32(r.two())
		h.fence = r.one()
		x := r.one()
		h.sub, h.acked = x&15, x>>4
		x = r.one()
		o := &h.write
		o.phase, o.refused, o.asked = phase(x&7), x>>3&1 != 0, x>>4&1 != 0
		if o.phase != free {
			x = r.one()
			o.expect, o.until, o.epoch, o.prev = x&15, x>>4, r.one(), r.one()
			o.body = r.two()
		}
	}
}
