package wire_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/wire"
)

// What is written as a string is what every other reader of JSON reads.
func TestStringsAgreeWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.OneOf(
			rapid.Byte(), rapid.SampledFrom([]byte("abc \"\\\n\x00é")),
		)).Draw(t, "text"))
		data := wire.String(nil, text)
		var want string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		s := wire.Scan(data)
		if got := s.String(); s.End() != nil || got != want {
			t.Fatalf("read %q, the standard library %q (%v)", got, want, s.Err())
		}
		if plain := strings.ToValidUTF8(text, ""); plain == text && want != text {
			t.Fatalf("%q came back as %q", text, want)
		}
	})
}

func TestIntegers(t *testing.T) {
	tests := []struct {
		text string
		want string
	}{
		{"0", "0"},
		{"7", "7"},
		{"18446744073709551615", "18446744073709551615"},
		{"18446744073709551616", "a smaller number"},
		{"19999999999999999999", "a smaller number"},
		{"99999999999999999999", "a smaller number"},
		{"100000000000000000000", "a smaller number"},
		{"01", "an integer"},
		{"1.0", "an integer"},
		{"1e3", "an integer"},
		{"", "an integer"},
		{"-1", "a number that is not negative"},
	}
	for _, tt := range tests {
		t.Run("unsigned "+tt.text, func(t *testing.T) {
			s := wire.Scan([]byte(tt.text))
			got := strconv.FormatUint(s.Uint(64), 10)
			if err := s.End(); err != nil {
				got = strings.TrimPrefix(err.Error(), "at byte "+strconv.Itoa(offset(err))+": expected ")
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	for _, v := range []int64{0, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32} {
		s := wire.Scan(strconv.AppendInt(nil, v, 10))
		if got := s.Int(64); got != v || s.End() != nil {
			t.Errorf("read %d as %d, %v", v, got, s.Err())
		}
		s = wire.Scan(strconv.AppendInt(nil, v, 10))
		if got := s.Int(32); (int64(int32(v)) == v) != (got == v && s.End() == nil) {
			t.Errorf("read %d in 32 bits as %d, %v", v, got, s.Err())
		}
	}
	for _, text := range []string{"9223372036854775808", "-9223372036854775809", "-"} {
		s := wire.Scan([]byte(text))
		if got := s.Int(64); s.End() == nil {
			t.Errorf("read %s as %d", text, got)
		}
	}
}

func offset(err error) int {
	var syntax *wire.SyntaxError
	if !errors.As(err, &syntax) {
		return -1
	}
	return syntax.Offset
}

func TestTheFirstErrorSticks(t *testing.T) {
	s := wire.Scan([]byte(`{"a":tru,"b":1}`))
	for s.Begin('{'); s.More('}'); {
		s.Key()
		s.Bool()
	}
	if s.Uint(64) != 0 || s.String() != "" || s.More('}') || s.Bool() {
		t.Error("a failed scanner still reads")
	}
	if err := s.End(); err == nil || err.Error() != "at byte 5: expected true" {
		t.Errorf("error %v", err)
	}
}

func TestFieldsAreSeparatedAndZeroValuesLeftOut(t *testing.T) {
	dst := wire.Open([]byte("x"))
	dst = wire.Int(dst, "a", 0)
	dst = wire.Int(dst, "b", -4)
	dst = wire.Uint(dst, "c", uint8(0))
	dst = wire.Uint(dst, "d", uint64(9))
	dst = wire.Bool(dst, "e", false)
	dst = wire.Bool(dst, "f", true)
	dst = wire.Text(dst, "g", "")
	dst = wire.Text(dst, "h", "{")
	dst = wire.Close(wire.Text(dst, "i", "\t\r"))
	if got, want := string(dst), `x{"b":-4,"d":9,"f":true,"h":"{","i":"\t\r"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	s := wire.Scan(deep(60))
	s.Skip()
	if err := s.End(); err != nil {
		t.Error(err)
	}
	s = wire.Scan(deep(1 << 20))
	s.Skip()
	if err := s.End(); err == nil || !strings.Contains(err.Error(), "nested less deeply") {
		t.Errorf("error %v", err)
	}
}

// Skip accepts what the standard library calls valid, but for the depth.
func FuzzSkip(f *testing.F) {
	for _, text := range []string{
		`null`, `[1,-2.5e+3,0.1,"\u12aF\ud83d\ude00\ud83dx",true,false,{}]`, ` { "a" : [ ] } `, `"\`, `1.`, `-`, `[1 2]`, "\"\xff\x01\"", `{"a"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := wire.Scan(data)
		s.Skip()
		err := s.End()
		if (err == nil) != json.Valid(data) && !strings.Contains(err.Error(), "nested") {
			t.Fatalf("%q: %v, the standard library says valid: %t", data, err, json.Valid(data))
		}
		if err != nil && (offset(err) < 0 || offset(err) > len(data)) {
			t.Fatalf("%q: an error at byte %d", data, offset(err))
		}
	})
}

// FuzzString compares the reading of strings with the standard library.
func FuzzString(f *testing.F) {
	f.Add([]byte(`"a\u00e9\n\/"`))
	f.Add([]byte("\"\xe2\x82\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := wire.Scan(data)
		got := s.String()
		var want string
		err := json.Unmarshal(data, &want)
		if string(data) != "null" && (err == nil) != (s.End() == nil) {
			t.Fatalf("%q: %v, the standard library says %v", data, s.Err(), err)
		}
		if err == nil && s.Err() == nil && got != want {
			t.Fatalf("%q is %q, the standard library says %q", data, got, want)
		}
	})
}
