package http2

import "crypto/tls"

// secure reports whether the connection meets RFC 9113 section 9.2, which allows only a few cipher suites of
// TLS 1.2. A connection without TLS did not come by ALPN; the operator has allowed it.
func (c *conn) secure() bool {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return true
	}
	switch s := t.ConnectionState(); s.Version {
	case tls.VersionTLS13:
		return true
	case tls.VersionTLS12:
		return safe[s.CipherSuite]
	}
	return false
}

// safe are the suites of TLS 1.2 that appendix A of RFC 9113 does not prohibit.
var safe = map[uint16]bool{
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: true, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: true,
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: true, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: true,
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: true, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: true,
}
