package wire

import (
	"math/bits"
	"unicode/utf8"
)

// plain tells which bytes of a string stand for themselves.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// plainUntil returns the place of the first byte from i on that is not plain,
// the length if there is none. Nearly all text is plain, and this is where
// reading and writing an event spend their time, so it looks at eight bytes at
// once: the lowest byte that is marked in odd is the first one that is special.
func plainUntil[T string | []byte](s T, i int) int {
	for ; i+8 <= len(s); i += 8 {
		x := eight(s, i)
		quote, slash := x^('"'*ones), x^('\\'*ones)
		odd := x | (x-0x20*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash
		if odd &= tops; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(s) && plain(s[i]) {
		i++
	}
	return i
}

func eight[T string | []byte](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}
