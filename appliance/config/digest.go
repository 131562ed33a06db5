package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"reflect"

	"jaque.sh/jaque/appliance/core/object"
)

// digest identifies a content, independent of the order of maps.
type digest [sha256.Size]byte

// digester writes values in one canonical form into a hash.
type digester struct {
	h   hash.Hash
	buf []byte
}

// newDigester starts an empty digest.
func newDigester() *digester { return &digester{h: sha256.New()} }

// sum ends the digest.
func (d *digester) sum() digest {
	var out digest
	d.h.Write(d.buf)
	d.buf = d.buf[:0]
	d.h.Sum(out[:0])
	return out
}

// flush keeps the buffer small.
func (d *digester) flush() {
	if len(d.buf) > 4096 {
		d.h.Write(d.buf)
		d.buf = d.buf[:0]
	}
}

// text writes the length first, so that "a","bc" and "ab","c" differ.
func (d *digester) text(s string) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(s)))
	d.buf = append(d.buf, s...)
	d.flush()
}

// number writes a number of any size.
func (d *digester) number(n uint64) { d.buf = binary.AppendUvarint(d.buf, n) }

// table writes a map in the order of its keys.
func (d *digester) table(m map[string]string) {
	d.number(uint64(len(m)))
	for _, k := range sortedKeys(m) {
		d.text(k)
		d.text(m[k])
	}
}

// value writes any value made of structs, maps, lists, pointers and scalars.
func (d *digester) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		d.text(v.String())
	case reflect.Bool:
		d.number(map[bool]uint64{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int64, reflect.Int32:
		d.number(uint64(v.Int()))
	case reflect.Uint8, reflect.Uint64, reflect.Uint16:
		d.number(v.Uint())
	case reflect.Float64:
		d.number(math.Float64bits(v.Float()))
	case reflect.Pointer:
		d.pointer(v)
	case reflect.Interface:
		// What stands behind an interface says what it is in words: a period.
		if v.IsNil() {
			d.number(0)
			return
		}
		d.text(v.Interface().(fmt.Stringer).String())
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	case reflect.Slice:
		d.number(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		d.mapping(v)
	default:
		panic(fmt.Sprintf("config: digest of a %s", v.Kind())) // a type was added without a rule here
	}
}

// pointer tells nil from a pointer to a zero value.
func (d *digester) pointer(v reflect.Value) {
	if v.IsNil() {
		d.number(0)
		return
	}
	d.number(1)
	d.value(v.Elem())
}

// mapping writes a map with text keys of any type of value, sorted by key.
func (d *digester) mapping(v reflect.Value) {
	byKey := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		byKey[it.Key().String()] = it.Value()
	}
	d.number(uint64(len(byKey)))
	for _, k := range sortedKeys(byKey) {
		d.text(k)
		d.value(byKey[k])
	}
}

// digestOf is the digest of one value.
func digestOf(v any) digest {
	d := newDigester()
	d.value(reflect.ValueOf(v))
	return d.sum()
}

// generation hashes everything that was validated. Neither the order of
// declarations nor the files they stand in matter.
func (l *loader) generation() string {
	d := newDigester()
	c := l.out
	for _, v := range []any{
		c.Set.Settings, c.Set.HostHandler, c.Set.ServiceHandler, c.Set.Periods, c.Periods, c.Contacts, c.Policies, c.Schedules, c.Delivery, c.Sinks, c.Views, c.Users,
		c.PluginPath, c.Macros, c.HTTP,
	} {
		d.value(reflect.ValueOf(v))
	}
	rules := map[*object.Rule]digest{}
	tables := map[uintptr]digest{}
	for _, o := range c.Set.Objects {
		if o.Rule.Name == zoneRuleName {
			continue // some processes have it and others do not
		}
		sum, ok := rules[o.Rule]
		if !ok {
			sum = digestOf(o.Rule)
			rules[o.Rule] = sum
		}
		d.object(o, sum, tables)
	}
	sum := d.sum()
	return hex.EncodeToString(sum[:12])
}

// object writes one object; its rule is written as a digest.
func (d *digester) object(o *object.Object, rule digest, tables map[uintptr]digest) {
	d.text(string(o.ID))
	d.buf = append(d.buf, rule[:]...)
	d.text(o.Alias)
	d.text(o.Zone)
	d.shared(o.Labels, tables)
	d.shared(o.Vars, tables)
	d.number(uint64(len(o.Groups)))
	for _, g := range o.Groups {
		d.text(g)
	}
	d.number(uint64(len(o.Depends)))
	for _, dep := range o.Depends {
		d.text(string(dep.Master.ID))
		d.value(reflect.ValueOf(termsOf(dep)))
	}
	if o.Host != nil {
		return
	}
	d.text(o.Address)
	d.number(uint64(len(o.Parents)))
	for _, p := range o.Parents {
		d.text(string(p.ID))
	}
}

// shared writes a map that many objects have in common, hashed only once.
func (d *digester) shared(m map[string]string, tables map[uintptr]digest) {
	if len(m) == 0 {
		d.number(0)
		return
	}
	key := reflect.ValueOf(m).Pointer()
	sum, ok := tables[key]
	if !ok {
		one := newDigester()
		one.table(m)
		sum = one.sum()
		tables[key] = sum
	}
	d.number(uint64(len(m)))
	d.buf = append(d.buf, sum[:]...)
}
