package setting

import (
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/cachekey"
)

// Caching is what the operator chooses of caching for the requests of a route. The zero value bypasses the cache.
type Caching struct {
	// Options are the choices within RFC 9111.
	rfc9111.Options

	// Enabled is false where all requests bypass the cache: nothing is looked up, stored or shared, not even a fetch, and nothing
	// is a sighting.
	Enabled bool
	// Bypass names what makes one request bypass the cache.
	Bypass Bypass
	// Key says what forms the cache key besides the URL. Its Headers are fields that reach the origin as the client sent them.
	Key cachekey.Options
	// StripCookies names cookies that are removed from all requests, also from those that bypass the cache. KeepCookies names the only
	// cookies that are not removed. At most one of the two has a name. Cookies that Bypass or Key names are never removed.
	StripCookies, KeepCookies cachekey.CookieNames
	// SliceBytes is the size of the aligned slices in which large objects are fetched and stored; 0 fetches them whole.
	SliceBytes int64
	// TagFields are the fields of responses that list tags. They are not forwarded, unless SendTags sends them to trusted proxies, so that
	// caches in front of this one can be purged by them.
	TagFields []string
	SendTags  bool
	// NoVarySearch lets a response say that other queries of its path mean the same.
	NoVarySearch bool
	// HonorRequest obeys the Cache-Control of requests (RFC 9111 section 5.2.1). A request's only-if-cached is always obeyed.
	HonorRequest bool
	// HonorNoStore makes a request with Cache-Control: no-store bypass the cache. Without it that directive is ignored.
	HonorNoStore bool
	// StorePostAnswers lets the response to a POST serve later GETs of the same route, if it says that it is the representation of
	// its own URL (RFC 9110 section 9.3.3).
	StorePostAnswers bool
	// Upgrades lets origins switch to another protocol. Without it a request is answered as if it had not asked for one.
	Upgrades bool
	// Invalidate is what a request by an unsafe method invalidates.
	Invalidate Invalidation
}

// Bypass names what makes a request bypass the cache: it is neither answered from the cache, nor stored, nor a sighting.
type Bypass struct {
	// Headers are names of fields, in any case. The field with any value is enough.
	Headers []string
	// Cookies are names of cookies. What an origin may take for such a cookie is enough, too.
	Cookies cachekey.CookieNames
}

// Invalidation says what the cache forgets after a successful request by an unsafe method. A client chooses its method, so each
// client can have these things forgotten: those of its URL, and those that it can make an origin name.
type Invalidation uint8

// The kinds of Invalidation.
const (
	// InvalidateUnsafe forgets the URL of the request and those of its origin that Location and Content-Location name
	// (RFC 9111 section 4.4), and groups (RFC 9875).
	InvalidateUnsafe Invalidation = iota
	// InvalidateSameURL forgets the URL of the request.
	InvalidateSameURL
	// InvalidateNone forgets nothing.
	InvalidateNone
)

// String returns the word of i in the configuration.
func (i Invalidation) String() string { return [...]string{"unsafe", "same_url", "none"}[i] }
