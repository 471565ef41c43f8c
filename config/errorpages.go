package config

import (
	"maps"
	"slices"
	"strings"
)

// pages is files by status or class of statuses.
func pages(field *map[string]string) *scalar[map[string]string] {
	return &scalar[map[string]string]{
		field: field, what: "section of files by status, 400 to 599, or 4xx and 5xx",
		shape: object{
			"type": []string{"object", "null"}, "propertyNames": object{"pattern": "^[45]([0-9][0-9]|xx)$"}, "additionalProperties": ref("text"),
		},
		from: func(d *decoder, f *map[string]string) func(node) { return d.pages(f) },
		yaml: func(m map[string]string) string {
			var parts []string
			for _, status := range slices.Sorted(maps.Keys(m)) {
				parts = append(parts, status+": "+quoted(m[status]))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	}
}

func (d *decoder) pages(dst *map[string]string) func(node) {
	return func(n node) {
		*dst = nil
		d.each(n, "want a section of statuses and files, such as {404: not-found.html, 5xx: sorry.html}", func(name string, n node) {
			digit := func(c byte) bool { return '0' <= c && c <= '9' }
			if len(name) != 3 || name[0] != '4' && name[0] != '5' || name[1:] != "xx" && (!digit(name[1]) || !digit(name[2])) {
				d.failAs(n.path, "", "want the status of an error as key, 400 to 599, or 4xx or 5xx")
				return
			}
			var file string
			d.text(&file)(n)
			if *dst == nil {
				*dst = map[string]string{}
			}
			(*dst)[name] = file
		})
	}
}

// errorPages checks the pages of a route. cmd/edgeproxy reads them.
func (v *validator) errorPages(path string, r *Route) {
	at, intercept := child(path, "error_pages"), child(path, "intercept_errors")
	if !v.sound(at, intercept) {
		return
	}
	for _, status := range slices.Sorted(maps.Keys(r.ErrorPages)) {
		if file := child(at, status); r.ErrorPages[status] == "" && v.sound(file) {
			v.fail(file, "want a file")
		}
	}
	switch {
	case !r.InterceptErrors:
	case len(r.ErrorPages) == 0:
		v.fail(intercept, "want error_pages beside it: they stand for what is intercepted")
	case r.AnswersItself():
		v.fail(intercept, "want no such key beside redirect or respond: no origin is asked")
	}
}
