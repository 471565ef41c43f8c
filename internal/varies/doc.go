// Package varies remembers by which request fields the responses of URLs vary.
//
// It answers one question: by which fields did the last response of this URL vary, of
// which nothing is stored? What is stored says it of itself. So the answer counts the
// right variant before the origin has said anything; it is never the reason why a
// response is taken for another.
//
// It is a guess. A URL may vary otherwise by now, and then the response says so. What
// is forgotten, or was too long to be remembered, costs the next request a second
// record in the filter and no more.
//
// The table is bounded: a URL that finds no room takes that of one which was not asked
// for lately. Looking up takes no lock and allocates nothing.
package varies
