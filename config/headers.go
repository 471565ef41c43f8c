package config

import (
	"maps"
	"slices"
	"strings"
)

// Headers are a route's rules for header fields.
type Headers struct {
	Request   RequestRules    // for requests, before keys are made of them and they are sent to origins
	Response  FieldRules      // for responses of origins, before they are judged and stored
	Generated GeneratedFields // for responses that edgeproxy makes itself
}

// GeneratedFields are fields that edgeproxy adds to its own responses.
type GeneratedFields struct {
	Set map[string]string // values by name
}

// FieldRules remove fields and set others. internal/http/field checks whether they can be used.
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
