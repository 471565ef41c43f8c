// Package varyfields remembers by which request fields the responses of URLs vary.
//
// It is used for requests for which nothing is stored. So admission counts such a request for the
// right variant before the origin answers. The list never decides which response a request gets.
//
// The list is a guess, that of the last response: the next one may vary by other fields, and then
// says so, since the responses of a URL need not have the same Vary. If a list was forgotten, or was
// too long to be remembered, the next request is recorded twice in the filter; nothing else happens.
//
// The table is bounded: a URL without a place takes that of a URL that was not used lately. A
// look-up takes no lock and allocates nothing.
package varyfields
