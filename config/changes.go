package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// Change is one setting that differs between two configurations.
type Change struct {
	// Path is the path of the setting, with names in place of indexes if there are names:
	// limits.read_idle_timeout, origins.app.servers, routes[api].cache.default_ttl.
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

// RestartChanges are those of Changes that take a restart.
func RestartChanges(from, to *Config) []Change {
	c := &comparison{from: &from.src, to: &to.src, withoutLive: true}
	c.tables(settingPath{}, from.table(), to.table(), false)
	return c.out
}

type comparison struct {
	from, to    *source
	withoutLive bool // live settings are not compared
	out         []Change
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
		c.settings(at.child(s.name), s, to[i].value, own || s.override)
	}
}

// settings compares the values of the setting s; to is the second one.
func (c *comparison) settings(at settingPath, s row, to value, own bool) {
	switch a := s.value.(type) {
	case *group:
		if !own || c.from.given(at.from) || c.to.given(at.to) {
			c.tables(at, a.settings(), to.(*group).settings(), own)
		}
		return
	case collection:
		if !a.inline() {
			c.collections(at, s, a, to.(collection))
			return
		}
	}
	c.values(at, s, to, own)
}

// values compares two values of the setting s; to is the second one.
func (c *comparison) values(at settingPath, s row, to value, own bool) {
	if s.live && c.withoutLive {
		return
	}
	old, now := textOf(s.value, c.from, at.from, own), textOf(to, c.to, at.to, own)
	hidden := now != "" && !same(s.value, to) // the texts may be equal: secrets are stars, and a value may be derived
	if of, ok := s.value.(derivedValue); ok && old == now && hidden {
		old, now = old+of.derivedText(), now+to.(derivedValue).derivedText()
	}
	isLive := s.isLive(old, now)
	if (old != now || hidden) && !(isLive && c.withoutLive) {
		c.out = append(c.out, Change{at.shown, old, now, isLive})
	}
}

// textOf returns the text of v, which was given in s at path. own says that it counts only if the file has it.
func textOf(v value, s *source, path string, own bool) string {
	if own && !s.given(path) {
		return ""
	}
	return v.text(s, path)
}

// derivedValue is a value that depends on another setting. derivedText names the derived part. It
// stands behind the text if nothing else has changed.
type derivedValue interface{ derivedText() string }

// collections compares two collections. Elements with the same key are compared with each other.
func (c *comparison) collections(at settingPath, s row, from, to collection) {
	if s.live && c.withoutLive && from.sample().isLive() {
		return
	}
	was, is := from.elements(at.from), to.elements(at.to)
	old, now := keyed(was), keyed(is)
	var before, after []string // the keys in both
	for _, a := range was {
		i, ok := now[a.key]
		if !ok {
			c.out = append(c.out, Change{at.shown + a.key, a.settings().flow(c.from, a.path), "", s.live})
			continue
		}
		before = append(before, a.key)
		if b := is[i]; !c.saidAlike(a.path, b.path) || !reflect.DeepEqual(saidBy(a.of), saidBy(b.of)) {
			c.tables(settingPath{at.shown + a.key, a.path, b.path}, a.settings(), b.settings(), false)
		}
	}
	for _, b := range is {
		if _, ok := old[b.key]; ok {
			after = append(after, b.key)
			continue
		}
		c.out = append(c.out, Change{at.shown + b.key, "", b.settings().flow(c.to, b.path), s.live})
	}
	if from.ordered() && !slices.Equal(before, after) {
		c.out = append(c.out, Change{at.shown, strings.Join(before, ", "), strings.Join(after, ", "), s.live})
	}
}

// saidBy returns what an element has, without what validate has made of it: rules hold functions, and no function equals another.
func saidBy(element any) any {
	if r, ok := element.(*Route); ok {
		said := *r
		said.headerRules, said.location, said.answerFields = HeaderRules{}, template.Location{}, fieldrules.Rules{}
		return &said
	}
	return element
}

// isLive reports whether a reload applies every setting of t.
func (t table) isLive() bool {
	all := true
	t.walkNames("", func(_ string, s row) {
		if _, section := s.value.(*group); !section {
			all = all && s.live
		}
	})
	return all
}

// keyed returns the index of each element by its key, of the first if there are several.
func keyed(all []element) map[string]int {
	out := make(map[string]int, len(all))
	for i, e := range all {
		if _, twice := out[e.key]; !twice {
			out[e.key] = i
		}
	}
	return out
}

// saidAlike reports whether the elements at these paths were given the same settings, by the same texts.
func (c *comparison) saidAlike(from, to string) bool {
	if _, rest := splitPath(from); rest != "" { // places has no map of its own for the element
		return false
	}
	return maps.EqualFunc(c.from.places[from], c.to.places[to], place.saysAs)
}

// saysAs reports whether the text is the same in both places.
func (p place) saysAs(q place) bool {
	return p.flag == q.flag && p.text == q.text && p.scalar == q.scalar
}
