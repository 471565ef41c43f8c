package http2

import "strings"

// name has the properties of a field name.
type name struct {
	canonical, lower string
	index            uint8 // in the static table (RFC 7541 appendix A); 0: not in it
	varying          bool  // its value differs in each response, so it does not go into the dynamic table
	secret           bool  // it is sent as never indexed (RFC 7541 section 7.1.3)
	forbidden        bool  // it must not be sent by HTTP/2 (RFC 9113 section 8.2.2)
}

// known are the names of most fields of responses, in canonical form.
var known = func() map[string]*name {
	out := map[string]*name{}
	add := func(n name, canonical ...string) {
		for _, c := range canonical {
			own := n
			own.canonical, own.lower = c, strings.ToLower(c)
			own.index = static[own.lower]
			out[c] = &own
		}
	}
	add(name{},
		"Accept-Ch", "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
		"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age", "Allow", "Alt-Svc", "Cache-Control",
		"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Security-Policy", "Content-Type",
		"Cross-Origin-Embedder-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Link", "Nel", "No-Vary-Search", "P3p",
		"Permissions-Policy", "Pragma", "Proxy-Authenticate", "Referrer-Policy", "Report-To", "Retry-After", "Server",
		"Strict-Transport-Security", "Surrogate-Control", "Timing-Allow-Origin", "Trailer", "Vary", "Via", "Www-Authenticate",
		"X-Content-Type-Options", "X-Dns-Prefetch-Control", "X-Frame-Options", "X-Powered-By", "X-Robots-Tag", "X-Xss-Protection")
	add(name{varying: true},
		"Age", "Cache-Status", "Cache-Tag", "Content-Length", "Content-Location", "Content-Md5", "Content-Range", "Date", "Digest", "Etag",
		"Expires", "Last-Modified", "Location", "Repr-Digest", "Server-Timing", "X-Cache", "X-Request-Id")
	add(name{secret: true}, "Set-Cookie")
	add(name{forbidden: true},
		"Connection", "Http2-Settings", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade")
	return out
}()

var contentLength = known["Content-Length"]

// static are the entries of the static table that responses have, by name.
var static = map[string]uint8{
	"accept-ranges": 18, "access-control-allow-origin": 20, "age": 21, "allow": 22, "cache-control": 24, "content-disposition": 25,
	"content-encoding": 26, "content-language": 27, "content-length": 28, "content-location": 29, "content-range": 30, "content-type": 31,
	"date": 33, "etag": 34, "expires": 36, "last-modified": 44, "link": 45, "location": 46, "proxy-authenticate": 48, "retry-after": 53,
	"server": 54, "set-cookie": 55, "strict-transport-security": 56, "vary": 59, "via": 60, "www-authenticate": 61,
}
