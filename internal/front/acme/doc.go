// Package acme orders certificates from an authority by ACME (RFC 8555), and renews them.
//
// It answers one question: which certificate has the authority issued for this name? It
// orders only for the names in the options; no handshake starts an order. New loads the
// stored certificates. One goroutine orders the missing ones, name by name, and retries an
// order that failed after a while. Certmagic's maintenance renews certificates, when the
// authority suggests it (RFC 9773) or in the last third of the lifetime, and keeps the
// files.
//
// This package does not listen. The owner of the listeners answers challenges: tls-alpn-01
// (RFC 8737) with the result of Challenge, http-01 with that of Answer. The issuer makes
// all connections; its context ends with Close.
package acme
