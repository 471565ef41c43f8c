// Package certs holds the certificates that servers send to clients, and reloads them from
// files.
//
// It answers one question: which certificate does this name get, and is it still the
// one in the file? The files are checked every few seconds. A changed pair of
// certificate and key replaces the old one for the next handshake. If the new pair
// cannot be read or does not match, the old one stays. The first pair is for clients
// that send no server name, or one that no certificate has.
package certs
