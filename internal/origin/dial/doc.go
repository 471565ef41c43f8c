// Package dial makes connections to hosts by name.
//
// It answers one question: which addresses has this name, and which of them
// answers?
//
// The laws:
//
//   - A resolver that fails or hangs ends no service: the last answer is used for
//     up to Options.Keep, and is asked for anew in the background.
//   - An address that does not answer costs Options.AttemptDelay, not the time of
//     the whole dial: the next one is tried beside it (RFC 8305 section 5).
//   - An address that answers is tried first from then on, until it does not, or what
//     is asked of it fails.
//   - A socket in the file system whose backlog is full is waited for, as TCP does by
//     itself.
//   - A name is looked up again when its answer may no longer be used, within bounds (ttl.go), and what it
//     stands for changes only by an answer: its addresses, or SRV records and theirs (follow.go).
//   - An address that has left a name that is watched is told of, so that connections
//     to it can end (watch.go).
//   - Everything has a limit: how old an answer gets, how long a lookup takes, how
//     many run for a name (one), how many addresses are tried.
//
// It knows no TLS, no pool and no HTTP. Names come from the configuration, so
// what is known of them is never forgotten.
package dial
