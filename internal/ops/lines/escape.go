package lines

import (
	"io"
	"unicode/utf8"
)

// This file alone says which characters a line must not have as they are.

// Unsafe reports whether r is one of them. A terminal obeys control characters, C1 as well as C0. Some readers end a line at U+2028 and
// U+2029. Bidirectional controls (Bidi_Control of Unicode) let a line show something else than it says.
func Unsafe(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r < 0xa0:
		return true
	case r < 0x2000:
		return r == 0x061c
	}
	return r == 0x200e || r == 0x200f || 0x2028 <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// AppendEscape appends the JSON escape of r, which is below U+10000, as all unsafe characters are.
func AppendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// EscapeJSON returns a writer of lines of JSON, which passes them on to w with an escape for each unsafe character in their
// strings. Their encoder has escaped those below U+0020 already. Each Write has whole lines.
func EscapeJSON(w io.Writer) io.Writer { return escaper{w} }

type escaper struct{ w io.Writer }

// Write implements io.Writer.
func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(escaped(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escaped returns p with its unsafe characters from U+007F on escaped. That is p itself if there are none.
func escaped(p []byte) []byte {
	var b []byte
	from := 0
	for i := 0; i < len(p); {
		r, n := rune(p[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(p[i:])
		}
		if r >= 0x7f && Unsafe(r) {
			b = AppendEscape(append(b, p[from:i]...), r)
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return p
	}
	return append(b, p[from:]...)
}
