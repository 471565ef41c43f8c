package config

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Inherited is the settings that stand at the top of the file and, under the same keys, in
// routes. A route's value takes precedence, name by name. The Inherited of a Route is in
// force: it has the values of both.
type Inherited struct {
	TotalTimeout time.Duration // the time of a whole exchange with the origin; 0 is no limit

	Access Access

	ErrorPages      map[string]string // files by status, such as 404, or by class: 4xx, 5xx. This package does not read them
	InterceptErrors bool              // ErrorPages also replace error responses of the origin

	// AllowAmbiguousPath stores responses even if the target has an encoded slash, backslash
	// or NUL, a dot segment or an empty segment.
	AllowAmbiguousPath bool

	// UnusualNames keeps request fields whose names have characters other than letters, digits
	// and hyphens.
	UnusualNames bool

	Headers Headers
}

func (h *Inherited) table() table {
	return table{
		live("total_timeout", duration(&h.TotalTimeout, 0),
			"How long a whole exchange with the origin may take, from the queue to the end of the body; 0s is no limit. Not for upgrades.").withExample("10m"),
		section("access", h.Access.table, "The clients that are served, by address and by password.").withExample("{allow: [10.0.0.0/8]}"),
		live("error_pages", pages(&h.ErrorPages),
			"Files sent as the body of errors of the proxy, by status or class; each reload reads them again.").withExample("{404: not-found.html, 5xx: sorry.html}"),
		live("intercept_errors", boolean(&h.InterceptErrors, false), "true sends error_pages also in place of the origin's responses with such a status."),
		live("allow_ambiguous_path", boolean(&h.AllowAmbiguousPath, false), "true also stores responses to targets with %2f, // or dot segments."),
		live("unusual_field_names", either(&h.UnusualNames, false, "drop", "keep"), "What to do with request fields such as X_Y, which some origins read as X-Y."),
		section("headers", h.Headers.table, "Fields to remove and to set.").withExample(`{request: {set: {X-Edge: "1"}}}`),
	}
}

// asOverrides returns t as sections of a route.
func (t table) asOverrides() table {
	for i := range t {
		t[i] = t[i].asOverride()
	}
	return t
}

// misplacedTimeouts are keys of origins that an operator may write at the top.
func misplacedTimeouts() (out table) {
	for _, name := range []string{"connect_timeout", "first_byte_timeout", "idle_timeout"} {
		out = append(out, misplaced(name, "belongs in an origin, for all of its routes, or in a route"))
	}
	return out
}

// inheritedKeys are the keys that routes have in common with the top of the file.
var inheritedKeys = new(Inherited).table().names()

// inherited returns what is in force for the route at path, which has own.
func (c *Config) inherited(src *source, path string, own *Inherited) Inherited {
	top := &c.Inherited
	out := *top
	if slices.ContainsFunc(inheritedKeys, func(key string) bool { return src.given(child(path, key)) }) {
		out.table().overlay(own.table(), src, path)
	}
	out.Access.Allow = slices.Clip(out.Access.Allow)
	if out.Access.Deny = slices.Concat(own.Access.Deny, top.Access.Deny); isNone(own.Access.Deny) {
		out.Access.Deny = nil
	}
	if len(out.Access.Allow) == 0 {
		out.Access.Allow = nil
	}
	if out.Access.BasicAuth.Enabled = own.Access.BasicAuth.Enabled; !own.Access.BasicAuth.Enabled { // false at the top has no effect on routes
		out.Access.BasicAuth.UsersFile = ""
	}
	out.ErrorPages = mergeNames(top.ErrorPages, own.ErrorPages, func(a, b string) bool { return a == b })
	out.Headers.Request = own.Headers.Request.mergedOver(top.Headers.Request)
	out.Headers.Response = own.Headers.Response.mergedOver(top.Headers.Response)
	out.Headers.Generated = own.Headers.Generated.mergedOver(top.Headers.Generated)
	return out
}

// nullValue stands for null in the file: a route removes the name that is set at the top. No
// text of a file is equal to it.
const nullValue = "\x00"

// textOrNull reads any scalar as text, and null as nullValue.
func (d *decoder) textOrNull(dst *string) func(node) {
	return func(n node) {
		if _, null := n.Node.(*ast.NullNode); null {
			*dst = nullValue
			return
		}
		if d.text(dst)(n); *dst == nullValue {
			d.fail(n.path, "must be text without control characters")
		}
	}
}

// quotedOrNull writes what textOrNull reads.
func quotedOrNull(text string) string {
	if text == nullValue {
		return "null"
	}
	return quoted(text)
}

// orNull is a JSON Schema of shape or null.
func orNull(shape object) object { return object{"anyOf": []any{shape, object{"type": "null"}}} }

// allClients is the value of access.allow for every client.
const allClients = "all"

// networksOr is a list of addresses and networks, or word for an empty one.
func networksOr(field *[]netip.Prefix, word, want string) *scalar[[]netip.Prefix] {
	s := networks(field, want)
	several, listed, list := s.decode, s.yaml, s.shape
	s.kindText = "list of addresses and networks, or " + word
	s.yaml = func(all []netip.Prefix) string {
		if isNone(all) {
			return word
		}
		return listed(all)
	}
	s.decode = func(d *decoder, f *[]netip.Prefix) func(node) {
		return func(n node) {
			if _, scalar := n.Node.(ast.ScalarNode); !scalar {
				several(d, f)(n)
				return
			}
			text, _, ok := d.scalar(n, want)
			_, isVariable := variableText(n.Node)
			switch {
			case !ok:
			case text == word:
				*f = []netip.Prefix{}
			case isVariable && word == allClients && strings.TrimSpace(text) == "": // an empty list lets everybody in
				d.fail(n.path, want+": the variable is empty")
			case isVariable:
				several(d, f)(n)
			default:
				d.fail(n.path, want)
			}
		}
	}
	s.shape = func() object { return object{"anyOf": []any{list(), object{"const": word}}} }
	return s
}

// mergeNames returns the values of top with those of own, which take precedence. Names with
// nullValue in own are removed. An empty result is nil.
func mergeNames(top, own map[string]string, same func(a, b string) bool) map[string]string {
	out := maps.Clone(top)
	maps.DeleteFunc(out, func(name, _ string) bool {
		for said := range own {
			if same(name, said) {
				return true
			}
		}
		return false
	})
	for name, value := range own {
		if value == nullValue {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// mergedOver returns the rules in force for a route that has r, with top for all routes. If r
// names a field, no rule of top applies to that field.
func (r FieldRules) mergedOver(top FieldRules) FieldRules {
	out := FieldRules{Remove: r.Remove, Set: mergeNames(top.Set, r.Set, strings.EqualFold)}
	maps.DeleteFunc(out.Set, func(name, _ string) bool {
		return !named(r.Set, name) && slices.ContainsFunc(r.Remove, func(of string) bool { return removes(of, name) })
	})
	if len(out.Set) == 0 {
		out.Set = nil
	}
	for _, name := range top.Remove {
		if !named(r.Set, name) && !slices.ContainsFunc(r.Remove, func(own string) bool { return strings.EqualFold(own, name) }) {
			out.Remove = append(slices.Clip(out.Remove), name)
		}
	}
	return out
}

// mergedOver is as for FieldRules. The list of the only fields is that of r, if it has one.
func (r RequestRules) mergedOver(top RequestRules) RequestRules {
	out := RequestRules{r.FieldRules.mergedOver(top.FieldRules), r.Only}
	if len(out.Only) == 0 {
		out.Only = top.Only
	}
	return out
}

// mergedOver is as for FieldRules.
func (g GeneratedFields) mergedOver(top GeneratedFields) GeneratedFields {
	return GeneratedFields{Set: mergeNames(top.Set, g.Set, strings.EqualFold)}
}

// named reports whether values has a value for the field of this name.
func named(values map[string]string, name string) bool {
	for n := range values {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// removes reports whether an element of remove, which may end in *, removes the field name.
func removes(element, name string) bool {
	start, open := strings.CutSuffix(element, "*")
	if !open {
		return strings.EqualFold(element, name)
	}
	return len(name) >= len(start) && strings.EqualFold(name[:len(start)], start)
}

// isNone reports whether the file has a word, all or none, in place of the list.
func isNone(list []netip.Prefix) bool { return list != nil && len(list) == 0 }

// inForceNotes returns a function with what is in force at the route at path, its own and inherited, in YAML. The text is "" if nothing
// stands at the top.
func (c *Config) inForceNotes() func(path string) string {
	if c.Inherited.table().isDefault() {
		return func(string) string { return "" }
	}
	routes, fields := map[string]*Route{}, map[string]place{} // fields are the places of those at the top: they show whether a value may be a secret
	for i := range c.Routes {
		routes[c.Routes[i].path] = &c.Routes[i]
	}
	for at, p := range c.src.places.all() {
		if within(at, "headers") {
			fields[at] = p
		}
	}
	src := c.src.clone()
	return func(path string) string {
		r := routes[path]
		if r == nil {
			return ""
		}
		for at, p := range fields {
			if from := path + "." + at; !src.given(from) {
				src.places.set(from, p)
			}
		}
		return "in force: " + r.Inherited.table().flow(&src, path)
	}
}

// Lifted is the restrictions of access that one route lifts: of the top of the file, and of the route around it.
type Lifted struct {
	Route string
	Keys  []string // keys of access
}

// Lifted lists the routes that serve clients which access at the top refuses, in the file's order.
func (c *Config) Lifted() (out []Lifted) {
	top := &c.Access
	for i := range c.Routes {
		l, r := Lifted{Route: c.Routes[i].Name}, &c.Routes[i].Access
		for _, k := range []struct {
			key    string
			lifted bool
		}{
			{"allow", len(top.Allow) > 0 && len(r.Allow) == 0},
			{"deny", len(top.Deny) > 0 && isNone(c.Routes[i].ownInherited.Access.Deny)},
			{"basic_auth", top.BasicAuth.UsersFile != "" && r.BasicAuth.UsersFile == ""},
		} {
			if k.lifted || slices.Contains(c.Routes[i].lifts, k.key) {
				l.Keys = append(l.Keys, k.key)
			}
		}
		if len(l.Keys) > 0 {
			out = append(out, l)
		}
	}
	return out
}
