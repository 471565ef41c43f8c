package dial

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// LocalError is a connection that was not made because this process or machine had no
// descriptor, port or memory for it. It says nothing of the server.
type LocalError struct{ err error }

// Error returns the text of the cause.
func (e *LocalError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *LocalError) Unwrap() error { return e.err }

// Local is what tells it from others, for who does not know its type.
func (e *LocalError) Local() bool { return true }

// shortages are what connect(2), socket(2) and bind(2) return where the caller's side has
// run out of something. EADDRNOTAVAIL is the end of the ephemeral ports.
var shortages = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE,
}

// local makes err a LocalError if it is one.
func local(err error) error {
	if short(err) {
		return &LocalError{err}
	}
	return err
}

// short reports whether err is a shortage of ours. Of a lookup that failed so the package
// net keeps the text alone.
func short(err error) bool {
	for _, s := range shortages {
		if errors.Is(err, s) {
			return true
		}
	}
	lookup, ok := errors.AsType[*net.DNSError](err)
	if !ok || lookup.IsNotFound {
		return false
	}
	for _, s := range shortages {
		if strings.HasSuffix(lookup.Err, ": "+s.Error()) {
			return true
		}
	}
	return false
}
