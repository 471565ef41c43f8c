package setting

import "net/netip"

// CacheStatus says which clients get the field Cache-Status (RFC 9211).
type CacheStatus struct {
	Send StatusSend
	// Trusted are the addresses of clients that get all of it, with StatusToTrusted.
	Trusted []netip.Prefix
}

// StatusSend says which clients get the field, and how much of it.
type StatusSend uint8

// The kinds of StatusSend.
const (
	StatusToNone    StatusSend = iota // nobody
	StatusToAll                       // every client
	StatusToTrusted                   // every client; one that is not trusted gets only hit or fwd, and nothing that other caches say
)

// String returns the word of s in the configuration.
func (s StatusSend) String() string { return [...]string{"none", "all", "trusted"}[s] }
