// Package acme gets certificates from an authority by ACME (RFC 8555), and renews them.
//
// It answers one question: which certificate has the authority given for this name? The
// names are those of the options and no other: no handshake makes an order. Stored
// certificates are there from New on; what is missing is ordered by one goroutine, name
// by name, and asked for again after a while where that fails. Renewals, when the
// authority suggests them (RFC 9773) or in the last third of the lifetime, are certmagic's
// maintenance, which also keeps the files.
//
// This package does not listen. The owner of the listeners answers challenges: tls-alpn-01
// (RFC 8737) with what Challenge returns, http-01 with what Answer returns. All connections
// are made by the issuer, whose context ends with Close.
package acme
