package config

import (
	"maps"
	"time"
)

// amount is what has an order.
type amount interface {
	int | float64 | Size | time.Duration
}

// number is a scalar with a range.
type number[T amount] struct {
	scalar[T]
	least, most *T
	above       bool // least itself is too small
	orZero      bool // 0 is taken, too
	low, high   string
}

// atLeast sets the least value.
func (n *number[T]) atLeast(least T) *number[T] { n.least = &least; return n }

// atMost sets the greatest value; why, if any, is its reason.
func (n *number[T]) atMost(most T, why ...string) *number[T] {
	n.most = &most
	for _, w := range why {
		n.high = "want at most " + n.yaml(most) + ": " + w
	}
	return n
}

// between sets both.
func (n *number[T]) between(least, most T) *number[T] { return n.atLeast(least).atMost(most) }

// moreThan sets a value that is itself too small.
func (n *number[T]) moreThan(least T) *number[T] { n.least, n.above = &least, true; return n }

// zero takes 0 besides the range.
func (n *number[T]) zero() *number[T] { n.orZero = true; return n }

// saying sets what errors say in place of the bounds.
func (n *number[T]) saying(want string) *number[T] { n.low, n.high = want, want; return n }

// sayingBelow sets what they say of a value that is too small.
func (n *number[T]) sayingBelow(want string) *number[T] { n.low = want; return n }

// sayingAbove sets what they say of a value that is too great.
func (n *number[T]) sayingAbove(want string) *number[T] { n.high = want; return n }

// noting adds to the range what documents say of it.
func (n *number[T]) noting(limits string) *number[T] { n.limits = limits; return n }

func (n *number[T]) take(from value) { n.scalar.take(&from.(*number[T]).scalar) }

func (n *number[T]) check(v *validator, path string) {
	x := *n.field
	if n.orZero && x == 0 || !v.src.given(path) || !v.sound(path) {
		return
	}
	switch {
	case n.least != nil && (x < *n.least || n.above && x == *n.least):
		v.fail(path, n.wanted(n.low, n.high != "", "want at least "+n.yaml(*n.least)))
	case n.most != nil && x > *n.most:
		v.fail(path, n.wanted(n.high, false, ""))
	}
}

// wanted is what an error says: its own words, or the bound that was crossed where the
// other one has its own, or both.
func (n *number[T]) wanted(words string, apart bool, bound string) string {
	switch {
	case words != "":
		return words
	case apart:
		return bound
	}
	return "want " + n.interval()
}

// interval is the range in words.
func (n *number[T]) interval() string {
	switch {
	case n.least != nil && n.above && n.most != nil:
		return "above " + n.yaml(*n.least) + ", at most " + n.yaml(*n.most)
	case n.least != nil && n.most != nil:
		return n.yaml(*n.least) + " to " + n.yaml(*n.most)
	case n.above:
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
	if n.limits != "" && out != "" {
		out += "; "
	}
	return out + n.limits
}

// schema has the range where JSON has numbers; of sizes and durations it is in words only.
func (n *number[T]) schema() object {
	shape := maps.Clone(n.shape)
	if shape["type"] == nil || n.orZero {
		return orVariable(shape)
	}
	if n.least != nil {
		key := "minimum"
		if n.above {
			key = "exclusiveMinimum"
		}
		shape[key] = *n.least
	}
	if n.most != nil {
		shape["maximum"] = *n.most
	}
	return orVariable(shape)
}

// noteworthy leaves out bounds that nobody comes near.
func (n *number[T]) noteworthy() string {
	if n.limits != "" {
		return n.limits
	}
	far := n.most != nil && (*n.most == 1 || float64(*n.most) == maxCount)
	if n.most != nil && !far || !far && n.least != nil && !n.above && *n.least > 1 {
		return n.bounds()
	}
	return ""
}
