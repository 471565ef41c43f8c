// Package method has the properties of request methods that IANA's HTTP Method Registry lists (RFC 9110 section 16.1): which are safe? It also
// says which methods this proxy never forwards. It does not read requests.
package method

// Safe reports whether the method is registered as safe (RFC 9110 section 9.2.1): a client does not ask for a change by it. A safe method is
// idempotent too. A method that is not registered is not safe. Case counts.
func Safe(name string) bool {
	switch name {
	case "GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE":
		return true
	}
	return false
}

// Refused reports whether the proxy answers 405 to the method whatever the target is. CONNECT asks for a tunnel. TRACE would show the fields
// that proxies add. PRI is the beginning of an HTTP/2 connection, and no request has it (RFC 9113 section 3.4).
func Refused(name []byte) bool {
	switch string(name) {
	case "CONNECT", "PRI", "TRACE":
		return true
	}
	return false
}
