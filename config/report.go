package config

// report collects the problems of one reading.
type report struct {
	src      source
	errs     Errors
	bad      map[string]bool // paths whose values mean nothing, with all below
	badBelow map[string]bool // paths with a bad one below
}

func newReport(src source) *report {
	return &report{src: src, bad: map[string]bool{}, badBelow: map[string]bool{}}
}

// fail adds a problem of the value at path, or of its absence.
func (r *report) fail(path, want string) {
	p, exact := r.src.locate(path)
	value := ""
	if exact && p.scalar {
		value = shown(p.text)
	}
	r.failWithValue(path, value, want)
}

// failWithValue is fail with another text for the value.
func (r *report) failWithValue(path, value, want string) {
	r.addError(path, value, want)
	r.bad[path] = true
	for at := path; at != ""; at = parent(at) {
		r.badBelow[parent(at)] = true
	}
}

// addError is failAs for a problem that leaves the values below path worth a look.
func (r *report) addError(path, value, want string) {
	p, exact := r.src.locate(path)
	e := &FieldError{File: r.src.file, Line: p.line, Column: p.column, Path: path, Value: value, Want: want}
	if p.flag != "" {
		e.File = ""
	}
	if p.flag != "" && exact {
		e.Path = p.flag
	}
	r.errs = append(r.errs, e)
}

// noErrorAt reports whether the values at paths, and below them, mean something: no problem
// was found with them yet. A check asks it first, so that one mistake is reported once.
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

// err returns what was collected, nil if nothing.
func (r *report) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return r.errs.sorted()
}
