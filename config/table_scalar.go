package config

import (
	"reflect"
	"strings"
)

// scalar is a value that a file has as one scalar or as one list or section of scalars.
type scalar[T any] struct {
	field  *T
	usual  T
	what   string // kind
	words  string // which they are, where there are few
	limits string // bounds
	from   func(d *decoder, field *T) func(node)
	yaml   func(T) string
	// masked is yaml where the value may be a secret by where it came from.
	masked func(src *source, path string, v T) string
	shape  object
}

func (s *scalar[T]) read(d *decoder) func(node) { return s.from(d, s.field) }
func (s *scalar[T]) reset()                     { *s.field = s.usual }
func (s *scalar[T]) check(*validator, string)   {}
func (s *scalar[T]) get() any                   { return *s.field }
func (s *scalar[T]) isUsual() bool              { return reflect.DeepEqual(*s.field, s.usual) }
func (s *scalar[T]) kind() string               { return s.what }
func (s *scalar[T]) bounds() string             { return s.limits }
func (s *scalar[T]) schema() object             { return s.shape }

func (s *scalar[T]) take(from value) {
	*s.field = *from.(*scalar[T]).field
}

func (s *scalar[T]) text(src *source, path string) string {
	if s.masked != nil {
		return s.masked(src, path, *s.field)
	}
	return s.yaml(*s.field)
}

// noting says what values the setting has where its kind does not.
func (s *scalar[T]) noting(bounds string) *scalar[T] { s.limits = bounds; return s }

// choices are the words that it may be.
func (s *scalar[T]) choices() string { return s.words }

// noteworthy is what the reference file says of the range.
func (s *scalar[T]) noteworthy() string { return s.limits }

// same reports whether two bindings of one setting hold the same.
func same(a, b value) bool { return reflect.DeepEqual(a.get(), b.get()) }

// group is the value of a section: the settings in it.
type group struct{ below table }

func (g *group) read(d *decoder) func(node)        { return d.section(g.below) }
func (g *group) reset()                            { g.below.reset() }
func (g *group) check(v *validator, path string)   { g.below.check(v, path) }
func (g *group) get() any                          { return nil }
func (g *group) isUsual() bool                     { return g.below.isUsual() }
func (g *group) take(value)                        {}
func (g *group) kind() string                      { return "section" }
func (g *group) bounds() string                    { return "" }
func (g *group) schema() object                    { return g.below.schema() }
func (g *group) text(src *source, p string) string { return g.below.flow(src, p) }

// refusal is the value of a key that belongs elsewhere.
type refusal struct{ want string }

func (r refusal) read(d *decoder) func(node) {
	return func(n node) { d.failAs(n.path, "", r.want) }
}
func (refusal) reset()                      {}
func (refusal) check(*validator, string)    {}
func (refusal) get() any                    { return nil }
func (refusal) isUsual() bool               { return true }
func (refusal) take(value)                  {}
func (refusal) text(*source, string) string { return "" }
func (refusal) kind() string                { return "" }
func (refusal) bounds() string              { return "" }
func (refusal) schema() object              { return nil }

// unsupported is the value of a key that is not supported yet.
type unsupported struct{ refusal }

func (unsupported) read(d *decoder) func(node) { return refusal{notYet}.read(d) }

// flow returns the settings on one line, without those that have their defaults.
func (t table) flow(src *source, path string) string {
	return t.flowOf(src, path, func(s setting, at string) bool {
		if s.override {
			return src.given(at)
		}
		return !s.value.isUsual()
	})
}

// flowGiven is flow with those that were given.
func (t table) flowGiven(src *source, path string) string {
	return t.flowOf(src, path, func(_ setting, at string) bool { return src.given(at) })
}

func (t table) flowOf(src *source, path string, shown func(s setting, at string) bool) string {
	var parts []string
	for _, s := range t {
		at := child(path, s.name)
		if !s.told() || !shown(s, at) {
			continue
		}
		text := s.value.text(src, at)
		if g, ok := s.value.(*group); ok && s.override {
			text = g.below.flowGiven(src, at)
		}
		parts = append(parts, s.name+": "+text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (t table) isUsual() bool {
	for _, s := range t {
		if !s.value.isUsual() {
			return false
		}
	}
	return true
}
