package config

import (
	"slices"
	"strings"
)

// Change is one setting that differs between two configurations.
type Change struct {
	// Path is the path of the setting, with names in place of indexes if there are names:
	// limits.read_idle, origins.app.servers, routes[api].cache.default_ttl.
	Path string
	// Old and New are the values as in a file, with secrets as stars. "" is an origin, route
	// or listener that does not exist, or a setting that the route inherits.
	Old, New string
	Live     bool // a reload applies it; otherwise it takes a restart
}

// Changes lists the differences between two configurations of Load, LoadWith, Parse or
// FromFlags, in the order of the reference file. A value that is written in one and the default
// in the other is no difference. An origin or route that was added or removed is one change,
// and so is another order of routes.
func Changes(from, to *Config) []Change {
	c := &comparison{from: &from.src, to: &to.src}
	c.tables(settingPath{}, from.table(), to.table(), false)
	return c.out
}

type comparison struct {
	from, to *source
	out      []Change
}

// settingPath is the path of a setting: as shown, and in both sources.
type settingPath struct{ shown, from, to string }

func (w settingPath) child(key string) settingPath {
	return settingPath{child(w.shown, key), child(w.from, key), child(w.to, key)}
}

// tables compares two bindings of a table. own says that it is a route's section, in which only
// the keys of the file count.
func (c *comparison) tables(at settingPath, from, to table, own bool) {
	for i, s := range from {
		if !s.isDocumented() {
			continue
		}
		at := at.child(s.name)
		switch a := s.value.(type) {
		case *group:
			c.tables(at, a.settings, to[i].value.(*group).settings, own || s.override)
		case collection:
			if b := to[i].value.(collection); !a.inline() {
				c.collections(at, s, a, b)
				continue
			}
			c.values(at, s, to[i].value, own || s.override)
		default:
			c.values(at, s, to[i].value, own || s.override)
		}
	}
}

// values compares two values of the setting s; to is the second one.
func (c *comparison) values(at settingPath, s setting, to value, own bool) {
	old, now := "", ""
	if !own || c.from.given(at.from) {
		old = s.value.text(c.from, at.from)
	}
	if !own || c.to.given(at.to) {
		now = to.text(c.to, at.to)
	}
	hidden := now != "" && !same(s.value, to) // the texts may be equal: secrets are stars, and a value may be derived
	if of, ok := s.value.(derivedValue); ok && old == now && hidden {
		old, now = old+of.derivedText(), now+to.(derivedValue).derivedText()
	}
	if old != now || hidden {
		c.out = append(c.out, Change{at.shown, old, now, s.live})
	}
}

// derivedValue is a value that depends on another setting. derivedText names the derived part. It
// stands behind the text if nothing else has changed.
type derivedValue interface{ derivedText() string }

// collections compares two collections. Elements with the same key are compared with each other.
func (c *comparison) collections(at settingPath, s setting, from, to collection) {
	was, is := from.elements(at.from), to.elements(at.to)
	var before, after []string // the keys in both
	for _, a := range was {
		i := slices.IndexFunc(is, func(b element) bool { return b.key == a.key })
		if i < 0 {
			c.out = append(c.out, Change{at.shown + a.key, a.settings.flow(c.from, a.path), "", s.live})
			continue
		}
		before = append(before, a.key)
		c.tables(settingPath{at.shown + a.key, a.path, is[i].path}, a.settings, is[i].settings, false)
	}
	for _, b := range is {
		if slices.ContainsFunc(was, func(a element) bool { return a.key == b.key }) {
			after = append(after, b.key)
			continue
		}
		c.out = append(c.out, Change{at.shown + b.key, "", b.settings.flow(c.to, b.path), s.live})
	}
	if from.ordered() && !slices.Equal(before, after) {
		c.out = append(c.out, Change{at.shown, strings.Join(before, ", "), strings.Join(after, ", "), s.live})
	}
}
