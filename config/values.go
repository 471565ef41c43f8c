package config

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Each of these methods returns a function that reads one value into dst.

// text reads any scalar as it stands.
func (d *decoder) text(dst *string) func(node) {
	return func(n node) {
		if s, _, ok := d.scalar(n, "must be text"); ok {
			*dst = s
		}
	}
}

// secret reads text that no error shows.
func (d *decoder) secret(dst *Secret) func(node) {
	return func(n node) {
		d.secretPath = n.path
		if s, _, ok := d.scalar(n, "must be text"); ok {
			*dst = Secret(s)
		}
	}
}

// word reads one of words and returns its index, -1 after an error.
func word(d *decoder, n node, words []string) int {
	want := "must be " + oneOf(words)
	s, _, ok := d.scalar(n, want)
	if !ok {
		return -1
	}
	i := slices.Index(words, s)
	if i < 0 {
		i = slices.Index(words, otherSeparator(s)) // second_hit is second-hit
	}
	if i < 0 {
		d.fail(n.path, want)
	}
	return i
}

// otherSeparator returns w with - for _, or _ for -: keys have the one, and some words the other.
func otherSeparator(w string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-':
			return '_'
		case '_':
			return '-'
		}
		return r
	}, w)
}

// oneOf lists words as a sentence does.
func oneOf(words []string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(w)
	}
	return b.String()
}

// duration reads a duration with its unit. Errors have the default as an example.
func (d *decoder) duration(dst *time.Duration) func(node) {
	example := *dst
	if example == 0 {
		example = 30 * time.Second
	}
	want := "must be a duration with a unit (ms, s, m, h, d or w), such as " + formatDuration(example)
	return converted(d, dst, want, func(s string) (time.Duration, error) { return parseDuration(s, example) })
}

var errInteger = errors.New("must be a whole number in decimal digits")

// integer reads decimal digits only: 010, 0x10, 1_000 and 1e3 have different
// meanings for different parsers of YAML.
func integer[T int | int64](d *decoder, dst *T) func(node) {
	return unquoted(d, dst, errInteger.Error(), func(s string) (T, error) {
		i, err := strconv.Atoi(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return 0, errors.New("must be a smaller number")
		case err != nil, strconv.Itoa(i) != s:
			return 0, errInteger
		}
		return T(i), nil
	})
}

var errRatio = errors.New("must be a number such as 0.01")

// ratio reads a finite decimal number.
func (d *decoder) ratio(dst *float64) func(node) {
	return unquoted(d, dst, errRatio.Error(), func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(s, "_xX") {
			return 0, errRatio
		}
		return f, nil
	})
}

// boolean reads true and false, not yes, on or 1.
func (d *decoder) boolean(dst *bool) func(node) {
	const want = "must be true or false"
	return unquoted(d, dst, want, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, errors.New(want)
		}
		return s == "true", nil
	})
}

// converted reads text and parses it with read, whose error says what is wanted.
func converted[T any](d *decoder, dst *T, want string, read func(text string) (T, error)) func(node) {
	return func(n node) {
		if s, _, ok := d.scalar(n, want); ok {
			set(d, n.path, dst, s, read)
		}
	}
}

// unquoted is converted for a type that is not a string in YAML.
func unquoted[T any](d *decoder, dst *T, want string, read func(text string) (T, error)) func(node) {
	return func(n node) {
		s, bare, ok := d.scalar(n, want)
		switch {
		case !ok:
		case !bare:
			d.fail(n.path, want+", without quotes")
		default:
			set(d, n.path, dst, s, read)
		}
	}
}

func set[T any](d *decoder, path string, dst *T, text string, read func(text string) (T, error)) {
	v, err := read(text)
	if err != nil {
		d.fail(path, err.Error())
		return
	}
	*dst = v
}
