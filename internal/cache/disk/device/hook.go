package device

import "fmt"

// Op is a kind of call.
type Op string

// The kinds of calls.
const (
	Create   Op = "create"
	Open     Op = "open"
	Read     Op = "read"
	Write    Op = "write"
	Sync     Op = "sync"
	Punch    Op = "punch"
	Cut      Op = "cut"
	Remove   Op = "remove"
	Rename   Op = "rename"
	Touch    Op = "touch"
	List     Op = "list"
	SyncDir  Op = "sync directory"
	FreeRoom Op = "free room"
	Lost     Op = "lost"
)

// Writes reports whether calls of the kind change what is on the disk.
func (o Op) Writes() bool {
	switch o {
	case Create, Write, Sync, Punch, Cut, Remove, Rename, Touch, SyncDir:
		return true
	default:
		return false
	}
}

// Call is one call that is about to be made.
type Call struct {
	Op            Op
	Name          string // name of the file, "" for the directory
	Offset, Bytes int64  // where it has them
}

// Hook is asked before each call, by the goroutine that makes it. An error keeps the call from being made and is what comes
// of it; a *ShortError lets a write be made in part.
type Hook func(Call) error

// ShortError is a write that ended after Bytes bytes.
type ShortError struct {
	Bytes int64
	Err   error
}

// Error says how far it got, and why no farther.
func (e *ShortError) Error() string { return fmt.Sprintf("written %d bytes: %v", e.Bytes, e.Err) }

// Unwrap returns why.
func (e *ShortError) Unwrap() error { return e.Err }

func (h Hook) ask(op Op, name string, offset, bytes int64) error {
	if h == nil {
		return nil
	}
	return h(Call{Op: op, Name: name, Offset: offset, Bytes: bytes})
}
