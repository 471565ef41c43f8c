package config

import "time"

// amount is the types of numbers.
type amount interface {
	int | int64 | float64 | Size | time.Duration
}

// number is the value of a setting with a range.
type number[T amount] struct {
	scalar[T]
	least, most            *T
	exclusive              bool // least itself is too small
	orZero                 bool // 0 is taken, too
	besides                *T   // and so is this
	errorBelow, errorAbove string
}

// atLeast sets the least value.
func (n *number[T]) atLeast(least T) *number[T] { n.least = &least; return n }

// atMost sets the largest value; why, if given, is the reason for errors.
func (n *number[T]) atMost(most T, why ...string) *number[T] {
	n.most = &most
	for _, w := range why {
		n.errorAbove = "must be at most " + n.yaml(most) + ": " + w
	}
	return n
}

// between sets both.
func (n *number[T]) between(least, most T) *number[T] { return n.atLeast(least).atMost(most) }

// moreThan sets a lower bound that is itself too small.
func (n *number[T]) moreThan(least T) *number[T] { n.least, n.exclusive = &least, true; return n }

// zero allows 0 as well as the range.
func (n *number[T]) zero() *number[T] { n.orZero = true; return n }

// or allows a value outside the range, which stands for a word.
func (n *number[T]) or(besides T) *number[T] { n.besides = &besides; return n }

// withError sets the error for a value outside the range.
func (n *number[T]) withError(want string) *number[T] {
	n.errorBelow, n.errorAbove = want, want
	return n
}

// withErrorBelow sets the error for a value that is too small.
func (n *number[T]) withErrorBelow(want string) *number[T] { n.errorBelow = want; return n }

// withErrorAbove sets the error for a value that is too large.
func (n *number[T]) withErrorAbove(want string) *number[T] { n.errorAbove = want; return n }

// withBounds adds to the range what documents say of it.
func (n *number[T]) withBounds(limits string) *number[T] { n.boundsText = limits; return n }

func (n *number[T]) take(from value) { n.scalar.take(&from.(*number[T]).scalar) }

func (n *number[T]) check(v *validator, path string) {
	x := *n.field
	if n.takes(x) || !v.src.given(path) || !v.noErrorAt(path) {
		return
	}
	switch {
	case n.least != nil && (x < *n.least || n.exclusive && x == *n.least):
		v.fail(path, n.boundError(n.errorBelow, n.errorAbove != "", "must be at least "+n.yaml(*n.least)))
	case n.most != nil && x > *n.most:
		v.fail(path, n.boundError(n.errorAbove, false, ""))
	}
}

// takes reports whether x is a value outside the range that is taken.
func (n *number[T]) takes(x T) bool {
	return n.orZero && x == 0 || n.besides != nil && x == *n.besides
}

// boundError returns an error text: the setting's own words; or bound, if the other bound has
// words of its own; or the whole range.
func (n *number[T]) boundError(words string, apart bool, bound string) string {
	switch {
	case words != "":
		return words
	case apart:
		return bound
	}
	return "must be " + n.interval()
}

// interval is the range in words.
func (n *number[T]) interval() string {
	switch {
	case n.least != nil && n.exclusive && n.most != nil:
		return "above " + n.yaml(*n.least) + ", at most " + n.yaml(*n.most)
	case n.least != nil && n.most != nil:
		return n.yaml(*n.least) + " to " + n.yaml(*n.most)
	case n.exclusive:
		return "more than " + n.yaml(*n.least)
	case n.least != nil:
		return "at least " + n.yaml(*n.least)
	case n.most != nil:
		return "at most " + n.yaml(*n.most)
	}
	return ""
}

func (n *number[T]) bounds() string {
	out := n.interval()
	if n.orZero && out != "" {
		out = n.yaml(0) + ", or " + out
	}
	if n.boundsText != "" && out != "" {
		out += "; "
	}
	return out + n.boundsText
}

// schema has the range for JSON numbers. Sizes and durations have it in the description only.
func (n *number[T]) schema() object {
	shape := n.shape()
	if shape["type"] == nil || n.orZero {
		return orVariable(shape)
	}
	if n.least != nil {
		key := "minimum"
		if n.exclusive {
			key = "exclusiveMinimum"
		}
		shape[key] = *n.least
	}
	if n.most != nil {
		shape["maximum"] = *n.most
	}
	return orVariable(shape)
}

// fileBounds returns the range for the reference file. Bounds that nobody comes near are left out.
func (n *number[T]) fileBounds() string {
	if n.boundsText != "" {
		return n.boundsText
	}
	far := n.most != nil && (*n.most == 1 || float64(*n.most) == maxCount)
	if n.most != nil && !far || !far && n.least != nil && !n.exclusive && *n.least > 1 {
		return n.bounds()
	}
	return ""
}
