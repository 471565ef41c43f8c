package accesslog

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"edgeproxy/internal/ops/lines"
)

const hexDigits = "0123456789abcdef"

// plain are the bytes that need no escape in JSON and in text: printable ASCII except the quote
// and the backslash.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// plainLen returns the length of the prefix of s that is plain. It tests eight bytes at a time. The last test overlaps the one
// before it.
func plainLen(s []byte) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !plainWord(binary.LittleEndian.Uint64(s[i:])) {
			break
		}
	}
	if left := len(s) - i; left < 8 && i > 0 && (left == 0 || plainWord(binary.LittleEndian.Uint64(s[len(s)-8:]))) {
		return len(s)
	}
	for i < len(s) && plain[s[i]] {
		i++
	}
	return i
}

// plainWord reports whether all eight bytes of w are plain. (w - n*ones) &^ w has the high bit of some byte set if any byte of
// w is below n.
func plainWord(w uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^ones*'"', w^ones*'\\'
	return (w|(w+ones)|(w-ones*' ')&^w|(quote-ones)&^quote|(backslash-ones)&^backslash)&high == 0
}

// appendWord appends one of edgeproxy's own words in quotes, unescaped.
func appendWord(b []byte, word string) []byte {
	b = append(b, '"')
	b = append(b, word...)
	return append(b, '"')
}

// appendJSON appends s in quotes. It escapes what is unsafe in a line (internal/ops/lines). A byte that is not UTF-8 becomes U+FFFD, as in encoding/json.
func appendJSON(b, s []byte) []byte {
	if len(s) == 0 {
		return append(b, `""`...)
	}
	b = append(b, '"')
	for {
		n := plainLen(s)
		b = append(b, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			return append(b, '"')
		}
		if s[0] < utf8.RuneSelf {
			b, s = appendEscaped(b, s[0]), s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case lines.Unsafe(r):
			b = lines.AppendEscape(b, r)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
}

// appendEscaped appends the JSON escape of an ASCII byte.
func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return lines.AppendEscape(b, rune(c))
}

// appendText appends s as nginx and Apache do: quotes, backslashes, and bytes that are not printable ASCII
// become \xHH. An empty s becomes a hyphen.
func appendText(b, s []byte) []byte {
	if len(s) == 0 {
		return append(b, '-')
	}
	for {
		n := plainLen(s)
		b = append(b, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			return b
		}
		b = append(b, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		s = s[1:]
	}
}

// appendColumn is appendText for a column without quotes: it escapes spaces too, because a space begins a new column.
func appendColumn(b, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, ' ')
		if i < 0 {
			return appendText(b, s)
		}
		if i > 0 {
			b = appendText(b, s[:i])
		}
		if b, s = append(b, `\x20`...), s[i+1:]; len(s) == 0 {
			return b
		}
	}
}

// appendWordText is appendText for one of edgeproxy's own words, which need no escape.
func appendWordText(b []byte, word string) []byte {
	if word == "" {
		return append(b, '-')
	}
	return append(b, word...)
}
