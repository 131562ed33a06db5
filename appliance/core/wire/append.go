package wire

import (
	"strconv"
	"unicode/utf8"
)

// Open appends the opening brace of an object. Every Append function below
// that takes a key writes "key":value and, where needed, the comma before it.
func Open(dst []byte) []byte { return append(dst, '{') }

// Close appends the closing brace of an object.
func Close(dst []byte) []byte { return append(dst, '}') }

// Key appends a key and its colon, for a value that the caller appends itself.
// The key must not need escaping.
func Key(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',', '"')
	} else {
		dst = append(dst, '"')
	}
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// Int appends an integer field unless it is 0.
func Int[T ~int | ~int32 | ~int64](dst []byte, key string, v T) []byte {
	if v == 0 {
		return dst
	}
	return strconv.AppendInt(Key(dst, key), int64(v), 10)
}

// Uint appends an unsigned field unless it is 0.
func Uint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, key string, v T) []byte {
	if v == 0 {
		return dst
	}
	return strconv.AppendUint(Key(dst, key), uint64(v), 10)
}

// Bool appends a field that is true; false is left out.
func Bool(dst []byte, key string, v bool) []byte {
	if !v {
		return dst
	}
	return append(Key(dst, key), "true"...)
}

// Text appends a text field unless it is empty.
func Text[T ~string](dst []byte, key string, v T) []byte {
	if v == "" {
		return dst
	}
	return String(Key(dst, key), string(v))
}

// String appends a quoted string. What is no valid UTF-8 becomes U+FFFD, so
// that whatever a plugin prints is valid JSON.
func String(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := plainUntil(s, 0); i < len(s); i = plainUntil(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			dst = append(append(dst, s[from:i]...), "\uFFFD"...)
		} else {
			dst = escape(append(dst, s[from:i]...), c)
		}
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func escape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
