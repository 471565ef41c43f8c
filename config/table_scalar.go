package config

import (
	"reflect"
	"strings"
)

// scalar is the value of a setting that is a scalar, or a list or section of scalars.
type scalar[T any] struct {
	field      *T
	byDefault  T
	kindText   string          // kind; "" is the words
	words      func() []string // the allowed ones; nil if there are others
	boundsText string          // bounds
	decode     func(d *decoder, field *T) func(node)
	yaml       func(T) string
	// masked, if not nil, is used in place of yaml: it needs the source to tell which values may be secrets.
	masked func(src *source, path string, v T) string
	shape  func() object
}

func (s *scalar[T]) read(d *decoder) func(node) { return s.decode(d, s.field) }
func (s *scalar[T]) reset()                     { *s.field = s.byDefault }
func (s *scalar[T]) check(*validator, string)   {}
func (s *scalar[T]) get() any                   { return *s.field }
func (s *scalar[T]) isDefault() bool            { return reflect.DeepEqual(*s.field, s.byDefault) }
func (s *scalar[T]) bounds() string             { return s.boundsText }
func (s *scalar[T]) schema() object             { return s.shape() }

func (s *scalar[T]) kind() string {
	if s.kindText == "" && s.words != nil {
		return oneOf(s.words())
	}
	return s.kindText
}

func (s *scalar[T]) take(from value) {
	*s.field = *from.(*scalar[T]).field
}

func (s *scalar[T]) text(src *source, path string) string {
	if s.masked != nil {
		return s.masked(src, path, *s.field)
	}
	return s.yaml(*s.field)
}

// withBounds describes the allowed values, in addition to the kind.
func (s *scalar[T]) withBounds(bounds string) *scalar[T] { s.boundsText = bounds; return s }

// choices lists the allowed words, "" if the setting has others.
func (s *scalar[T]) choices() string {
	if s.words == nil {
		return ""
	}
	return strings.Join(s.words(), " | ")
}

// fileBounds returns the range for the reference file.
func (s *scalar[T]) fileBounds() string { return s.boundsText }

// same reports whether two bindings of one setting hold the same value.
func same(a, b value) bool { return reflect.DeepEqual(a.get(), b.get()) }

// group is the value of a section.
type group struct {
	bind func() table
	made table // what bind has returned; nil: it was not asked yet
}

// settings returns the table of the section. It is made once: a file has few of the sections that each route may have.
func (g *group) settings() table {
	if g.made == nil {
		g.made = g.bind()
	}
	return g.made
}

// overlay is table.overlay for the section at path. A section that is not in the file has nothing to copy.
func (g *group) overlay(own *group, src *source, path string) {
	if src.given(path) {
		g.settings().overlay(own.settings(), src, path)
	}
}

func (g *group) read(d *decoder) func(node)        { return d.section(g.settings()) }
func (g *group) reset()                            { g.settings().reset() }
func (g *group) get() any                          { return nil }
func (g *group) isDefault() bool                   { return g.settings().isDefault() }
func (g *group) take(value)                        {}
func (g *group) kind() string                      { return "section" }
func (g *group) bounds() string                    { return "" }
func (g *group) schema() object                    { return g.settings().schema() }
func (g *group) text(src *source, p string) string { return g.settings().flow(src, p) }

// check checks the values that were given. A section that was not given has none.
func (g *group) check(v *validator, path string) {
	if v.src.hasWithin(path) {
		g.settings().check(v, path)
	}
}

// misplacedKey is the value of a key that belongs elsewhere.
type misplacedKey struct{ want string }

func (r misplacedKey) read(d *decoder) func(node) {
	return func(n node) { d.failWithValue(n.path, "", r.want) }
}
func (misplacedKey) reset()                      {}
func (misplacedKey) check(*validator, string)    {}
func (misplacedKey) get() any                    { return nil }
func (misplacedKey) isDefault() bool             { return true }
func (misplacedKey) take(value)                  {}
func (misplacedKey) text(*source, string) string { return "" }
func (misplacedKey) kind() string                { return "" }
func (misplacedKey) bounds() string              { return "" }
func (misplacedKey) schema() object              { return nil }

// unsupported is the value of a key that is not supported yet.
type unsupported struct{ misplacedKey }

func (unsupported) read(d *decoder) func(node) { return misplacedKey{notYet}.read(d) }

// flow returns the settings on one line, without those that have their defaults.
func (t table) flow(src *source, path string) string {
	return t.flowOf(src, path, func(s row, at string) bool {
		if s.override {
			return src.given(at)
		}
		return !s.value.isDefault()
	})
}

// flowGiven is flow with the settings that were given.
func (t table) flowGiven(src *source, path string) string {
	return t.flowOf(src, path, func(_ row, at string) bool { return src.given(at) })
}

func (t table) flowOf(src *source, path string, shown func(s row, at string) bool) string {
	var parts []string
	for _, s := range t {
		at := child(path, s.name)
		if !s.isDocumented() || !shown(s, at) {
			continue
		}
		text := s.value.text(src, at)
		if g, ok := s.value.(*group); ok && s.override {
			text = g.settings().flowGiven(src, at)
		}
		parts = append(parts, s.name+": "+text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (t table) isDefault() bool {
	for _, s := range t {
		if !s.value.isDefault() {
			return false
		}
	}
	return true
}
