package config

import (
	"maps"
	"slices"
	"strings"
)

// pages is files by status or class of statuses.
func pages(field *map[string]string) *scalar[map[string]string] {
	return &scalar[map[string]string]{
		field: field, kindText: "section of files by status, 400 to 599, or 4xx and 5xx",
		shape: func() object {
			return object{"type": []string{"object", "null"}, "propertyNames": object{"pattern": "^[45]([0-9][0-9]|xx)$"}, "additionalProperties": orNull(ref("text"))}
		},
		decode: func(d *decoder, f *map[string]string) func(node) { return d.pages(f) },
		yaml: func(m map[string]string) string {
			var parts []string
			for _, status := range slices.Sorted(maps.Keys(m)) {
				parts = append(parts, status+": "+quotedOrNull(m[status]))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	}
}

func (d *decoder) pages(dst *map[string]string) func(node) {
	return func(n node) {
		*dst = nil
		d.each(n, "must be a section of statuses and files, such as {404: not-found.html, 5xx: sorry.html}", func(name string, n node) {
			digit := func(c byte) bool { return '0' <= c && c <= '9' }
			if len(name) != 3 || name[0] != '4' && name[0] != '5' || name[1:] != "xx" && (!digit(name[1]) || !digit(name[2])) {
				d.failWithValue(n.path, "", "must be an error status as key: 400 to 599, 4xx or 5xx")
				return
			}
			var file string
			d.textOrNull(&file)(n)
			if *dst == nil {
				*dst = map[string]string{}
			}
			(*dst)[name] = file
		})
	}
}

// pageFiles checks that each status has a file. internal/edge reads them.
func (v *validator) pageFiles(path string, files map[string]string) {
	for _, status := range slices.Sorted(maps.Keys(files)) {
		if file := child(path, status); files[status] == "" && v.noErrorAt(file) {
			v.fail(file, "must be a file")
		}
	}
}

// errorPages checks error_pages and intercept_errors of a route.
func (v *validator) errorPages(path string, r *Route) {
	at, intercept := child(path, "error_pages"), child(path, "intercept_errors")
	if !v.noErrorAt(at, intercept) {
		return
	}
	v.pageFiles(at, r.ownInherited.ErrorPages)
	switch {
	case !r.ownInherited.InterceptErrors:
	case len(r.ErrorPages) == 0:
		v.fail(intercept, "needs error_pages as well: they replace the intercepted responses")
	case r.AnswersItself():
		v.fail(intercept, "remove it: a route with redirect or respond asks no origin")
	}
}
