// Package spool keeps bytes on disk that memory has no room for, until their reader has
// taken them.
//
// It answers one question: a client is slower than its origin, so where does the rest of the
// response wait? It waits in files without a name. Each is removed from its folder as soon as
// it is open, so that nothing is left of it after the process, however that ends.
//
// All files together have a bound. The package knows neither responses nor clients.
package spool
