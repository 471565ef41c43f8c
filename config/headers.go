package config

import (
	"maps"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/fieldrules"
)

// Headers are a route's rules for header fields.
type Headers struct {
	Request   RequestRules    // for requests, before keys are made of them and they are sent to origins
	Response  FieldRules      // for responses of origins, before they are judged and stored
	Generated GeneratedFields // for responses that edgeproxy makes itself
}

// HeaderRules are Headers as the engine uses them.
type HeaderRules struct {
	Request, Response, Generated fieldrules.Rules
}

// GeneratedFields are fields that edgeproxy adds to its own responses.
type GeneratedFields struct {
	Set map[string]string // values by name
}

// FieldRules remove fields and set others.
type FieldRules struct {
	Remove []string          // names; a * at the end stands for any ending
	Set    map[string]string // values by name
}

// RequestRules also let through only some fields of clients.
type RequestRules struct {
	FieldRules
	Only []string // names; a * at the end stands for any ending. Empty: all
}

func (r *FieldRules) table() table {
	return table{
		live("remove", texts(&r.Remove, "field names", "must be a list of field names, such as [X-Debug, X-Internal-*]"),
			"Fields to remove; a * at the end stands for any ending. A route adds to those at the top.").withExample("[X-Internal-*]"),
		live("set", fieldChanges(&r.Set), "Fields to set to a value; {host} and others are placeholders for values of the request, {{ and }} are braces. A route adds to those at the top; null removes the one that is set there.").withExample(`{X-Edge: "1"}`),
	}
}

// requestTable is table, and the list of the only fields.
func (r *RequestRules) requestTable() table {
	return append(r.table(), live("only", texts(&r.Only, "field names", "must be a list of field names, such as [Accept*, Content-Type]"),
		"The only fields of clients that the origin gets, besides those that edgeproxy writes; a * at the end stands for any ending, and a * alone lets all through. The list of a route replaces the one at the top.").withExample("[Accept*, Content-Type]"))
}

func (g *GeneratedFields) table() table {
	return table{
		live("set", fieldChanges(&g.Set), "Fields to set to a value, with the placeholders of headers.request.set. A route adds to those at the top; null removes one. Cache-Control and similar fields apply to redirects and respond only: errors keep no-store.").withExample(`{Strict-Transport-Security: max-age=31536000}`),
		misplaced("remove", "remove it: these responses have no field to remove; null under set removes one that is set at the top"),
	}
}

// fieldValues is a section of texts by field name.
func fieldValues(field *map[string]string) *scalar[map[string]string] {
	return namedValues(field, "section of texts by field name", wantFields)
}

// wantFields is the error for a value that is no section of fields.
const wantFields = `must be a section of names and values, such as {X-Edge: "1"}`

// namedValues is a section of texts by name. A value that may be a secret is shown as stars: one
// from a variable, or one with a name like that of a secret.
func namedValues(field *map[string]string, what, want string) *scalar[map[string]string] {
	return &scalar[map[string]string]{
		field: field, kindText: what,
		decode: func(d *decoder, f *map[string]string) func(node) { return d.namedValues(f, want, d.text) },
		shape:  func() object { return namedTexts(ref("text")) },
		masked: func(src *source, path string, values map[string]string) string {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(values)) {
				value := values[name]
				if value == nullValue {
					parts = append(parts, quoted(name)+": null")
					continue
				}
				if given, _ := src.places.at(child(path, name)); likelySecret(name) || strings.Contains(given.text, "${") {
					value = stars
				}
				parts = append(parts, quoted(name)+": "+quoted(value))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	}
}

// namedTexts is the JSON Schema of a section of texts by name.
func namedTexts(text object) object {
	return object{"type": []string{"object", "null"}, "additionalProperties": text}
}

// fieldChanges is fieldValues, with null for a field that a route removes.
func fieldChanges(field *map[string]string) *scalar[map[string]string] {
	s := fieldValues(field)
	s.decode = func(d *decoder, f *map[string]string) func(node) { return d.namedValues(f, wantFields, d.textOrNull) }
	s.shape = func() object { return namedTexts(orNull(ref("text"))) }
	return s
}

// likelySecret reports whether a field of this name usually holds a secret.
func likelySecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "cookie", "token", "secret", "key", "password", "credential", "signature"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

func (d *decoder) namedValues(dst *map[string]string, want string, read func(*string) func(node)) func(node) {
	return func(n node) {
		*dst = nil
		d.each(n, want, func(name string, n node) {
			var value string
			read(&value)(n)
			if *dst == nil {
				*dst = map[string]string{}
			}
			(*dst)[name] = value
		})
	}
}

func (h *Headers) table() table {
	return table{
		section("request", h.Request.requestTable, "The request that the origin gets and keys are made of.").asInline(),
		section("response", h.Response.table, "The origin's response, changed before it is judged and stored.").asInline(),
		section("generated", h.Generated.table, "The answers that edgeproxy makes itself: errors, their pages, redirects, respond, other texts.").asInline(),
	}
}

// HeaderRules returns the rules in force for r. They are those of a Config that has passed all checks.
func (r *Route) HeaderRules() *HeaderRules { return &r.headerRules }

// HeaderRules returns the rules at the top, as for a Route.
func (c *Config) HeaderRules() *HeaderRules { return &c.headerRules }

// fieldRules makes the rules for fields at the top, and those in force of each route.
func (v *validator) fieldRules() (found Errors) {
	v.c.headerRules, found = v.headerRules("", &v.c.Headers)
	for i := range v.c.Routes {
		r, at := &v.c.Routes[i], v.c.Routes[i].path
		var own Errors
		r.headerRules, own = v.headerRules(at+".", &r.Headers)
		found = slices.Concat(found, own, v.keyedAndDropped(at, r))
	}
	return found
}

// headerRules makes the rules of a route, whose path and a dot section is, or those at the top.
func (v *validator) headerRules(section string, h *Headers) (out HeaderRules, found Errors) {
	top := &v.c.Headers
	var err error
	out.Request, err = fieldrules.ForRequests(h.Request.Remove, h.Request.Only, h.Request.Set)
	found = v.ruleFaults(section, "headers.request", &h.Request, top.Request.Remove, err)
	out.Response, err = fieldrules.ForResponses(h.Response.Remove, h.Response.Set)
	found = append(found, v.ruleFaults(section, "headers.response", &RequestRules{FieldRules: h.Response}, top.Response.Remove, err)...)
	out.Generated, err = fieldrules.ForGenerated(h.Generated.Set)
	return out, append(found, v.ruleFaults(section, "headers.generated", &RequestRules{}, nil, err)...)
}

// ruleFaults returns the faults that err joins of the rules r in force. path is theirs at the top, and with section before it that in the
// route. The list of r to remove has the route's own names first, and then those of top; its list of the only fields is from one place.
func (v *validator) ruleFaults(section, path string, r *RequestRules, top []string, err error) (found Errors) {
	for _, e := range Joined[*field.RuleError](err) {
		at := child(path, e.Rule)
		own := section + at
		switch i := slices.Index(r.Remove, e.Name); {
		case e.Name == "":
		case e.Rule == "set":
			at += "." + e.Name
			own = section + at
		case e.Rule == "only":
			i = slices.Index(r.Only, e.Name)
			at, own = item(at, i), item(own, i)
		case i >= 0:
			at, own = item(at, slices.Index(top, e.Name)), item(own, i)
		}
		found = append(found, v.src.fault(v.src.firstGiven(own, at), "must be "+e.Want))
	}
	return found
}

// keyedAndDropped returns a fault for each field that the key of the route r, which is at the path at, uses and its rules for requests drop.
func (v *validator) keyedAndDropped(at string, r *Route) (found Errors) {
	used := map[string]string{} // field names by the setting that uses them
	for _, name := range r.Cache.Key.Headers {
		used[name] = "cache.key.headers"
	}
	if len(r.Cache.Key.Cookies) > 0 {
		used["Cookie"] = "cache.key.cookies"
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !r.headerRules.Request.Drops(field.Canonical(name)) {
			continue
		}
		want := "must have no rule for " + name
		if len(r.Headers.Request.Only) > 0 {
			want = "needs " + name + " let through by the rules"
		}
		found = append(found, v.src.fault(v.src.firstGiven(descendant(at, "headers.request"), "headers.request"), want+": "+used[name]+" uses it"))
	}
	return found
}
