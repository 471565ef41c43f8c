package policy

import (
	"math"
	"strconv"
	"strings"
)

// Parameter is the number that a policy is told.
type Parameter struct {
	Name  string // name in the configuration, such as more_than
	Usage string // for a flag; the value's name stands in backquotes
	Sign  string // stands between the policy's name and the value where a report names a rule

	// The bounds: Least to Most, or above Least with AboveLeast.
	Least, Most float64
	AboveLeast  bool
	Whole       bool // whole numbers only
	Default     float64

	of func(*Rule) float64
	to func(*Rule, float64)
}

// Flag returns the name of the flag that sets p.
func (p *Parameter) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Of returns the value that r has.
func (p *Parameter) Of(r Rule) float64 { return p.of(&r) }

// In returns r with the value v.
func (p *Parameter) In(r Rule, v float64) Rule {
	p.to(&r, v)
	return r
}

// Holds reports whether v is within the bounds.
func (p *Parameter) Holds(v float64) bool {
	return v >= p.Least && v <= p.Most && !(p.AboveLeast && v == p.Least) && !(p.Whole && v != math.Trunc(v))
}

// Want says in words what Holds takes, without "whole number".
func (p *Parameter) Want() string {
	if p.AboveLeast {
		return "above " + Number(p.Least) + " and at most " + Number(p.Most)
	}
	return Number(p.Least) + " to " + Number(p.Most)
}

// Number writes a value of a parameter as short as it can be read back.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// RuleOf returns the rule of the policy called name, with this value of its parameter
// if it has one.
func RuleOf(name string, value float64) (Rule, error) {
	p, err := Parse(name)
	r := Rule{Policy: p}
	if param := p.Parameter(); err == nil && param != nil {
		r = param.In(r, value)
	}
	return r, err
}

// Value returns the value of the parameter of r, 0 where it has none.
func (r Rule) Value() float64 {
	if p := r.Policy.Parameter(); p != nil {
		return p.Of(r)
	}
	return 0
}

// Label returns the name of r with the value of its parameter behind sep, such as
// counting-4.
func (r Rule) Label(sep string) string {
	if p := r.Policy.Parameter(); p != nil {
		return r.Policy.String() + sep + Number(p.Of(r))
	}
	return r.Policy.String()
}

// Name returns the name of r as reports have it, such as "counting >4".
func (r Rule) Name() string {
	if p := r.Policy.Parameter(); p != nil {
		return r.Label(" " + p.Sign)
	}
	return r.Policy.String()
}
