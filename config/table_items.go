package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// items is the value of a list whose elements are sections.
type items[T any] struct {
	field       *[]T
	byDefault   []T
	kindText    string // kind; "" is "list of sections"
	want        string // the error for a value that is no list
	tableOf     func(*T) table
	key         func(*T) string     // identifies an element in Changes; nil is by index
	short       func(*T) *scalar[T] // binds an element as one value; nil if elements have no short form
	isShort     func(*T) bool       // whether the short form says all of an element
	derived     func(*T) string     // the part of an element that depends on another setting, "" if none; nil is none
	wantElement string              // the error for an element that is no section; "" is the usual one
	oneLine     bool                // the list is one value for Changes and stands on one line of a file
}

// collection is a list of sections, or the section of origins.
type collection interface {
	value
	elements(path string) []element // the elements; path is that of the setting
	sample() table                  // the table of an element with its defaults
	inline() bool                   // it is one value for Changes and one line in a file
	ordered() bool                  // the order of elements matters
}

// element is an element of a collection.
type element struct {
	path     string
	key      string       // such as [api] or .app
	settings func() table // makes its table
	of       any          // a pointer to what the table is bound to
	line     string       // its short form in YAML; "" if it has none
	title    string       // the key of a section; "" is an element of a list
}

func (l *items[T]) read(d *decoder) func(node) {
	read := l.readElements(d)
	return func(n node) {
		if _, isVariable := variableText(n.Node); isVariable && l.short == nil { // a variable holds no sections
			d.failKind(n, l.want)
			return
		}
		read(n)
	}
}

func (l *items[T]) readElements(d *decoder) func(node) {
	defaults := withDefaults(l.tableOf)
	return elements(d, l.want, l.field, func(v *T) func(node) { return l.readElement(d, v, &defaults) })
}

// readElement returns the function that reads one element, v.
func (l *items[T]) readElement(d *decoder, v, defaults *T) func(node) {
	section := d.section(l.tableOf(v))
	if l.short == nil {
		if !d.noDefaults {
			*v = *defaults
		}
		return l.readSection(d, section)
	}
	*v = *defaults // a short element has defaults for the rest
	short := l.short(v).read(d)
	return func(n node) {
		if isSection(n.Node) {
			section(n)
			return
		}
		short(n)
	}
}

// readSection is section, with the error wantElement for a value that is no section.
func (l *items[T]) readSection(d *decoder, section func(node)) func(node) {
	return func(n node) {
		if _, ok := pairs(n.Node); !ok && l.wantElement != "" {
			d.failKind(n, l.wantElement)
			return
		}
		section(n)
	}
}

func (l *items[T]) reset()          { *l.field = l.byDefault }
func (l *items[T]) get() any        { return *l.field }
func (l *items[T]) isDefault() bool { return reflect.DeepEqual(*l.field, l.byDefault) }
func (l *items[T]) inline() bool    { return l.oneLine }
func (l *items[T]) ordered() bool   { return l.key != nil }

func (l *items[T]) check(v *validator, path string) {
	for i := range *l.field {
		l.tableOf(&(*l.field)[i]).check(v, item(path, i))
	}
}

func (l *items[T]) take(from value) { *l.field = *from.(*items[T]).field }

func (l *items[T]) text(src *source, path string) string {
	var parts []string
	for _, e := range l.elements(path) {
		line := e.line
		if line == "" {
			line = e.settings().flow(src, e.path)
		}
		parts = append(parts, line)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (l *items[T]) elements(path string) []element {
	var out []element
	for i := range *l.field {
		v := &(*l.field)[i]
		e := element{path: item(path, i), key: item("", i), settings: func() table { return l.tableOf(v) }, of: v}
		if l.key != nil {
			e.key = "[" + l.key(v) + "]"
		}
		if l.short != nil && l.isShort(v) {
			e.line = l.short(v).yaml(*v)
		}
		out = append(out, e)
	}
	return out
}

func (l *items[T]) derivedText() string {
	var b strings.Builder
	for i := range *l.field {
		if l.derived != nil {
			b.WriteString(l.derived(&(*l.field)[i]))
		}
	}
	return b.String()
}

func (l *items[T]) sample() table { return sample(l.tableOf) }

// sample returns the table of a new value with its defaults.
func sample[T any](of func(*T) table) table {
	t := of(new(T))
	t.reset()
	return t
}

func (l *items[T]) kind() string   { return cmp.Or(l.kindText, "list of sections") }
func (l *items[T]) bounds() string { return "" }

func (l *items[T]) schema() object {
	one := l.sample().schema()
	if l.short != nil {
		return listShape(object{"anyOf": []any{ref("text"), one}})
	}
	return object{"type": "array", "items": one}
}

const wantOrigins = "must be a section of origins by their names"

// originSections is the value of origins: a section with a section for each origin.
type originSections struct{ field *[]Origin }

func (o *originSections) read(d *decoder) func(node) {
	return func(n node) {
		defaults := withDefaults((*Origin).table)
		if all, ok := pairs(n.Node); ok {
			*o.field = slices.Grow(*o.field, len(all))
		}
		d.eachKey(n, wantOrigins, func(name string, n node) {
			if first, twice := d.src.places.at(n.path); twice {
				d.failAtKey(n.key, n.path, "", "given twice, first in "+d.src.text(first))
				return
			}
			d.notePlace(node{path: n.path, key: n.key}, place{})
			*o.field = append(*o.field, Origin{})
			v := &(*o.field)[len(*o.field)-1]
			if !d.noDefaults {
				*v = defaults
			}
			v.Name = name
			d.section(v.table())(n)
		})
	}
}

func (o *originSections) reset()          { *o.field = nil }
func (o *originSections) get() any        { return *o.field }
func (o *originSections) isDefault() bool { return len(*o.field) == 0 }
func (o *originSections) inline() bool    { return false }
func (o *originSections) ordered() bool   { return false }

func (o *originSections) check(v *validator, path string) {
	for _, e := range o.elements(path) {
		e.settings().check(v, e.path)
	}
}

func (o *originSections) take(from value) { *o.field = *from.(*originSections).field }

func (o *originSections) text(src *source, path string) string {
	var parts []string
	for i, e := range o.elements(path) {
		parts = append(parts, quoted((*o.field)[i].Name)+": "+e.settings().flow(src, e.path))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (o *originSections) elements(path string) []element {
	var out []element
	for i := range *o.field {
		v := &(*o.field)[i]
		out = append(out, element{path: child(path, v.Name), key: strings.TrimPrefix(child("x", v.Name), "x"), title: quoted(v.Name), settings: v.table, of: v})
	}
	return out
}

func (o *originSections) sample() table  { return sample((*Origin).table) }
func (o *originSections) kind() string   { return "section of sections by name" }
func (o *originSections) bounds() string { return "" }

func (o *originSections) schema() object {
	return object{"type": []string{"object", "null"}, "additionalProperties": o.sample().schema()}
}
