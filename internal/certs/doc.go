// Package certs keeps the certificates that clients are shown.
//
// It answers one question: which certificate does this name get, and is it still the
// one in the file? Files are looked at again every few seconds; a changed pair takes
// the place of the old one for the next handshake, and one that cannot be read or does
// not match leaves it there. The first pair is for clients that name nobody, or a name
// that no certificate is for.
package certs
