package trace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SourceError is a path that names nothing to read: a file that does not exist, or a
// generated workload with invalid settings. It is found before anything is read.
type SourceError struct{ Err error }

// Error returns the text of Err, which names the path.
func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *SourceError) Unwrap() error { return e.Err }

// Name returns the name of a path for reports: the last part of a file's path, or the text
// of a generated workload. Control characters are escaped.
func Name(path string) string {
	if path == "-" {
		return "standard input"
	}
	for _, scheme := range [...]string{schemeZipf, schemePopularity} {
		if spec, ok := cutScheme(path, scheme); ok {
			return printable(scheme + ":" + spec)
		}
	}
	return printable(filepath.Base(path))
}

// pathError returns err with a printable path.
func pathError(path string, err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: fault.Op, Path: printable(path), Err: fault.Err}
	}
	return err
}

// printable returns s with characters that are not printable escaped as in Go.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
