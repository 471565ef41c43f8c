// Package spool keeps bytes on disk that memory has no room for, for as long as somebody
// waits for them.
//
// It answers one question: where do the bytes of a response wait whose client is slower
// than its origin? In files without a name: each is removed from its folder as soon as it
// is open, so that nothing is left of it after the process, however that ends.
//
// All files together have a bound. The package knows neither responses nor clients.
package spool
