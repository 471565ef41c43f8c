package config

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Each of these returns what reads one value of its type into dst.

// text takes any scalar as it stands.
func (d *decoder) text(dst *string) func(node) {
	return func(n node) {
		if s, _, ok := d.scalar(n, "want text"); ok {
			*dst = s
		}
	}
}

// secret takes text that no problem shows.
func (d *decoder) secret(dst *Secret) func(node) {
	return func(n node) {
		d.secretPath = n.path
		if s, _, ok := d.scalar(n, "want text"); ok {
			*dst = Secret(s)
		}
	}
}

// word takes one of words. Those in later are part of the format, but not
// supported yet.
func word[T ~string](d *decoder, dst *T, words []T, later ...T) func(node) {
	want := "want " + oneOf(words)
	return func(n node) {
		s, _, ok := d.scalar(n, want)
		switch {
		case !ok:
		case slices.Contains(words, T(s)):
			*dst = T(s)
		case slices.Contains(later, T(s)):
			d.fail(n.path, notYet+", "+want)
		default:
			d.fail(n.path, want)
		}
	}
}

// oneOf lists words as a sentence does.
func oneOf[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// size takes a size with its unit.
func (d *decoder) size(dst *Size) func(node) {
	return converted(d, dst, errSize.Error(), ParseSize)
}

// duration takes a duration with its unit; the default is the example.
func (d *decoder) duration(dst *time.Duration) func(node) {
	such := *dst
	if such == 0 {
		such = 30 * time.Second
	}
	want := "want a duration with a unit (ms, s, m or h), such as " + formatDuration(such)
	return converted(d, dst, want, func(s string) (time.Duration, error) { return parseDuration(s, such) })
}

var errInteger = errors.New("want a whole number in decimal digits")

// integer takes decimal digits only: 010, 0x10, 1_000 and 1e3 mean different
// things to different readers of YAML.
func (d *decoder) integer(dst *int) func(node) {
	return unquoted(d, dst, errInteger.Error(), func(s string) (int, error) {
		i, err := strconv.Atoi(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return 0, errors.New("want a smaller number")
		case err != nil, strconv.Itoa(i) != s:
			return 0, errInteger
		}
		return i, nil
	})
}

var errRatio = errors.New("want a number such as 0.01")

// ratio takes a finite decimal number.
func (d *decoder) ratio(dst *float64) func(node) {
	return unquoted(d, dst, errRatio.Error(), func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(s, "_xX") {
			return 0, errRatio
		}
		return f, nil
	})
}

// boolean takes true and false, not yes, on or 1.
func (d *decoder) boolean(dst *bool) func(node) {
	const want = "want true or false"
	return unquoted(d, dst, want, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, errors.New(want)
		}
		return s == "true", nil
	})
}

// converted takes what read makes of the text; the error says what is wanted.
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
