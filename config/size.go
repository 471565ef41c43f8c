package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes, 0 or more.
type Size int64

// The IEC units, in bytes.
const (
	KiB = 1 << 10
	MiB = 1 << 20
	GiB = 1 << 30
)

// maxSize is far above any use, and small enough that adding sizes never overflows.
const maxSize Size = 1 << 20 * GiB

var errSize = errors.New("must be a size with a unit (B, KB, KiB, MB, MiB, GB or GiB), such as 256MiB")

// ParseSize reads a size: a decimal number and one of the units B, KB, KiB, MB,
// MiB, GB and GiB, in upper or lower case. KB is 1000 bytes, KiB 1024. Only 0 needs
// no unit. A fraction of a byte is dropped. The error says what is wanted.
func ParseSize(text string) (Size, error) {
	if text == "0" {
		return 0, nil
	}
	number, unit := splitNumber(text)
	switch strings.ToLower(strings.TrimPrefix(unit, " ")) {
	case "b":
		if strings.Contains(number, ".") {
			return 0, errors.New("must be a whole number of bytes")
		}
	case "kb", "kib", "mb", "mib", "gb", "gib":
	default:
		return 0, errSize
	}
	n, err := humanize.ParseBytes(text)
	switch {
	case err != nil && !validNumber(number):
		return 0, errSize
	case err != nil || n > uint64(maxSize):
		return 0, errors.New("must be at most " + maxSize.String())
	}
	return Size(n), nil
}

// splitNumber cuts text behind its leading ASCII digits and points: humanize would
// accept other digits and commas too.
func splitNumber(text string) (number, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// validNumber reports whether text has the form of a decimal number, however large.
func validNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// String returns the size in the largest IEC unit that divides it, such as
// 256MiB, or in bytes, such as 1500B. ParseSize reads it back.
func (s Size) String() string {
	for _, u := range []struct {
		size Size
		name string
	}{{GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}} {
		if s >= u.size && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}
