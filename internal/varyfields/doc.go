// Package varyfields remembers by which request fields the responses of URLs vary.
//
// It answers one question: by which fields did the last response of this URL vary? It is
// asked where nothing of the URL is stored; a stored response says it of itself. So a
// request is counted by the right variant before the origin has said anything. The answer
// never decides which response a request gets.
//
// It is a guess. A URL may vary otherwise by now, and then the response says so. A list that
// was forgotten, or was too long to be remembered, costs the next request a second record in
// the filter and no more.
//
// The table is bounded: a URL that finds no room takes that of one which was not asked
// for lately. Looking up takes no lock and allocates nothing.
package varyfields
