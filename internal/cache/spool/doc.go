// Package spool keeps bytes on disk that memory has no room for, until their reader has
// taken them.
//
// It answers one question: a client is slower than its origin, so where does the rest of the
// response wait? It waits in files that never have a name (O_TMPFILE), so that nothing is left
// after the process, however that ends. Where the file system or the system cannot make such
// files, each is removed from its folder as soon as it is open.
//
// All files together have a bound. The package knows neither responses nor clients.
package spool
