package config

// Warn returns a warning of the value at path, for a reason that this package does not check.
func (c *Config) Warn(path, text string) Warning {
	f := c.Fault(path, text)
	return Warning{File: f.File, Line: f.Line, Column: f.Column, Path: f.Path, Value: f.Value, Text: text}
}

// Fault returns an error of the value at path, for a reason that this package does
// not check. path is the value's key, with dots. want is as in FieldError.
func (c *Config) Fault(path, want string) *FieldError {
	p, exact := c.src.locate(path)
	e := &FieldError{File: c.src.fileOf(p), Line: p.line, Column: p.column, Path: path, Want: want}
	if exact && p.scalar {
		e.Value = shown(p.text)
	}
	return e
}

// Given returns the first of paths that has a value in the file or by a flag, or the last
// one if none has. So it finds the place of a value that a route has or inherits.
func (c *Config) Given(paths ...string) string {
	for _, path := range paths {
		if c.src.given(path) {
			return path
		}
	}
	return paths[len(paths)-1]
}
