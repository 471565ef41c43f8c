package proxy

import (
	"slices"

	"edgeproxy/internal/route/cachekey"
)

// Bypass names what makes a request pass by the cache: neither answered from it,
// nor stored, nor a sighting.
type Bypass struct {
	// Headers are names of fields in canonical form that do so by being there.
	Headers []string
	// Cookies are names of cookies that do, and so does what an origin may take for one.
	Cookies cachekey.CookieNames
}

// holds reports whether x has one of them.
func (b *Bypass) holds(x *exchange) bool {
	if slices.ContainsFunc(b.Headers, x.hasField) {
		return true
	}
	if len(b.Cookies) == 0 || !x.asks.cookie {
		return false
	}
	lines := x.forwardedLines("Cookie")
	return len(lines) == 1 && cachekey.Readable(lines) && b.Cookies.Found(lines[0])
}

// ambiguousCookies reports whether the route goes by cookies and the origin may read
// those of x in another way: what is keyed is then not what the answer was made for.
func (x *exchange) ambiguousCookies() bool {
	r := x.route
	if !x.asks.cookie || len(r.Bypass.Cookies) == 0 && !r.Key.Reads("Cookie") {
		return false
	}
	lines := x.forwardedLines("Cookie")
	return !cachekey.Readable(lines) || r.Key.Ambiguous(lines)
}

// cookieNotInKey reports whether x has a cookie that the origin gets and the key has not. Then the response may be for
// one client only.
func (x *exchange) cookieNotInKey() bool {
	return x.asks.cookie && !(x.route.Key.Reads("Cookie") && x.route.Key.HasAllCookies(x.forwardedLines("Cookie")))
}

// stripCookies takes the cookies that the route does not let through out of x, before its
// key, its sighting and its origin.
func (x *exchange) stripCookies() {
	filter := &x.route.cookies
	if !x.asks.cookie || !filter.Active() {
		return
	}
	x.asks.cookie = false
	kept := x.stripped[:0]
	for _, f := range x.fields {
		if sameName(f.Name, "Cookie") {
			n := len(x.scratch)
			if out, found := filter.AppendOthers(x.scratch, f.Value); found {
				x.scratch, f.Value = out, out[n:]
				if len(f.Value) == 0 {
					continue
				}
			}
			x.asks.cookie = true
		}
		kept = append(kept, f)
	}
	x.fields, x.stripped = kept, kept
}
