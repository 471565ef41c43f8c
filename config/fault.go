package config

// Warn returns a warning of a value of c for a reason that this package does not know.
func (c *Config) Warn(path, text string) Warning {
	f := c.Fault(path, text)
	return Warning{File: f.File, Line: f.Line, Column: f.Column, Path: f.Path, Value: f.Value, Text: text}
}

// Fault returns the error for a value of c that passed the checks of this
// package and cannot work for another reason. path is the value's key, with dots;
// want says what is wanted, as the other errors do.
func (c *Config) Fault(path, want string) *FieldError {
	p, exact := c.src.locate(path)
	e := &FieldError{File: c.src.file, Line: p.line, Column: p.column, Path: path, Want: want}
	if exact && p.scalar {
		e.Value = shown(p.text)
	}
	return e
}

// Given returns the first of paths that the file or a flag has a value at, and the last one
// where none has: what a route does not say is said for all routes.
func (c *Config) Given(paths ...string) string {
	for _, path := range paths {
		if c.src.given(path) {
			return path
		}
	}
	return paths[len(paths)-1]
}
