package sample

import "math"

// Base is what a unit of a plugin becomes: a value in it times Factor is a value in
// the unit Name.
type Base struct {
	Name    string
	Factor  float64
	Counter bool
}

// Scale returns a value in the unit Name. It divides by whole numbers, which unlike
// their inverses are exact: 5 µs are 0.000005 s and not one digit more.
func (b Base) Scale(v float64) float64 {
	if b.Factor < 1 {
		return v / math.Round(1/b.Factor)
	}
	return v * b.Factor
}

// units are the units of plugins by their text. Those of bytes are the powers of
// 1024 that the usual plugins write as KB, MB and so on; constant.
var units = map[string]Base{
	"s": {"seconds", 1, false}, "ms": {"seconds", 1e-3, false}, "us": {"seconds", 1e-6, false}, "µs": {"seconds", 1e-6, false},
	"μs": {"seconds", 1e-6, false}, "ns": {"seconds", 1e-9, false}, "min": {"seconds", 60, false}, "h": {"seconds", 3600, false}, "d": {"seconds", 86400, false},
	"B": {"bytes", 1, false}, "KB": {"bytes", 1 << 10, false}, "kB": {"bytes", 1 << 10, false}, "MB": {"bytes", 1 << 20, false},
	"GB": {"bytes", 1 << 30, false}, "TB": {"bytes", 1 << 40, false}, "PB": {"bytes", 1 << 50, false}, "EB": {"bytes", 1 << 60, false},
	"KiB": {"bytes", 1 << 10, false}, "MiB": {"bytes", 1 << 20, false}, "GiB": {"bytes", 1 << 30, false}, "TiB": {"bytes", 1 << 40, false},
	"PiB": {"bytes", 1 << 50, false}, "EiB": {"bytes", 1 << 60, false},
	"b": {"bits", 1, false}, "kb": {"bits", 1e3, false}, "Kb": {"bits", 1e3, false}, "Mb": {"bits", 1e6, false}, "Gb": {"bits", 1e9, false}, "Tb": {"bits", 1e12, false},
	"%": {"percent", 1, false}, "c": {"", 1, true},
	"A": {"amperes", 1, false}, "mA": {"amperes", 1e-3, false}, "V": {"volts", 1, false}, "mV": {"volts", 1e-3, false}, "kV": {"volts", 1e3, false},
	"W": {"watts", 1, false}, "mW": {"watts", 1e-3, false}, "kW": {"watts", 1e3, false}, "MW": {"watts", 1e6, false},
	"Hz": {"hertz", 1, false}, "kHz": {"hertz", 1e3, false}, "MHz": {"hertz", 1e6, false}, "GHz": {"hertz", 1e9, false},
	"C": {"celsius", 1, false},
}

// BaseUnit returns what a unit becomes when it is scaled. A unit that is not known
// stays as it is.
func BaseUnit(uom string) Base {
	if b, ok := units[uom]; ok {
		return b
	}
	return Base{uom, 1, false}
}

// rawUnit is what a unit becomes when it is left alone: "c" says how to read a
// value and is no unit.
func rawUnit(uom string) Base {
	if uom == "c" {
		return Base{"", 1, true}
	}
	return Base{uom, 1, false}
}
