package config

import (
	"cmp"
	"slices"
	"strings"
)

// report collects the errors of one configuration.
type report struct {
	src      source
	errs     Errors
	bad      map[string]bool // paths whose values are not usable, with all values below
	badBelow map[string]bool // paths with a bad path below

	incomplete bool // an included file could not be read: origins and routes may be missing
}

func newReport(src source) *report {
	return &report{src: src, bad: map[string]bool{}, badBelow: map[string]bool{}}
}

// missing is the error for a setting that was not given. what says what to name, with an article and an example.
func missing(what string) string { return "is missing: name " + what }

// fail adds an error for the value at path, or for its absence.
func (r *report) fail(path, want string) {
	p, exact := r.src.locate(path)
	value := ""
	if exact && p.scalar {
		value = shown(p.text)
	}
	r.failWithValue(path, value, want)
}

// failWithValue is fail with another text in place of the value.
func (r *report) failWithValue(path, value, want string) {
	r.addError(path, value, want)
	r.bad[path] = true
	for at := path; at != ""; at = parent(at) {
		r.badBelow[parent(at)] = true
	}
}

// addError is failWithValue without marking path as bad: later checks still look at the values below it.
func (r *report) addError(path, value, want string) {
	p, exact := r.src.locate(path)
	e := &FieldError{File: r.src.fileOf(p), Line: p.line, Column: p.column, Path: path, Value: value, Want: want}
	if p.flag != "" {
		e.File = ""
	}
	if p.flag != "" && exact {
		e.Path = p.flag
	}
	r.errs = append(r.errs, e)
}

// noErrorAt reports whether no error was found yet at paths, around them or below them. A check
// calls it first, so that one mistake is reported once.
func (r *report) noErrorAt(paths ...string) bool {
	for _, p := range paths {
		if r.badBelow[p] || r.bad[""] {
			return false
		}
		for at := p; at != ""; at = parent(at) {
			if r.bad[at] {
				return false
			}
		}
	}
	return true
}

// reportedAbove reports whether there is an error for the value at path or for one around it, also one of addError.
func (r *report) reportedAbove(path string) bool {
	for at := path; at != ""; at = parent(at) {
		if slices.ContainsFunc(r.errs, func(e *FieldError) bool { return e.Path == at }) {
			return true
		}
	}
	return false
}

// addUnlessReported adds those of found whose settings have no error yet, at their place, around it or below it.
func (r *report) addUnlessReported(found Errors) {
	r.errs = append(r.errs, slices.DeleteFunc(found, func(e *FieldError) bool { return !r.noErrorAt(e.Path) || r.reportedAbove(e.Path) })...)
}

// err returns the errors, those of flags first, then in the order of the files, or nil.
func (r *report) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b *FieldError) int {
		return cmp.Or(cmp.Compare(r.src.order(a.File), r.src.order(b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r.errs = onceForAll(r.errs, func(e *FieldError) (string, spot) { return e.Path, spot{e.File, e.Line, e.Column, e.Want} })
	return r.errs
}

// spot is what is said, and where.
type spot struct {
	file         string
	line, column int
	text         string
}

// onceForAll returns all, with what is said of several routes at the same place once: they are routes within a route, and have the value in common.
func onceForAll[T any](all []T, of func(T) (path string, at spot)) []T {
	inRoute := func(path string) bool { return strings.Contains(path, "].routes[") }
	kept := map[spot]string{} // the path that stays
	for _, e := range all {
		path, at := of(e)
		if first, ok := kept[at]; !ok || inRoute(first) && !inRoute(path) {
			kept[at] = path
		}
	}
	return slices.DeleteFunc(all, func(e T) bool {
		path, at := of(e)
		return inRoute(path) && kept[at] != path
	})
}
