package config

import (
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/route/setting"
)

func bypassTable(b *setting.Bypass) table {
	return table{
		live("headers", texts(&b.Headers, "field names", "must be a list of field names, such as [X-Preview]"),
			"Fields that make a request bypass the cache.").withExample("[X-Preview]"),
		live("cookies", texts((*[]string)(&b.Cookies), "cookie names", "must be a list of cookie names, such as [session]"),
			"Cookies that make a request bypass the cache; a * at the end stands for any ending.").withExample("[session, wp_*]"),
	}
}

// bypass checks the names of fields and cookies.
func (v *validator) bypass(path string, b *setting.Bypass) {
	v.names(descendant(path, "headers"), b.Headers, "", "must be the name of a header field, without *")
	v.names(descendant(path, "cookies"), b.Cookies, "*", wantCookie)
	for i, name := range b.Headers {
		if at := item(descendant(path, "headers"), i); strings.EqualFold(name, "Host") && v.noErrorAt(at) {
			v.fail(at, "must be another field: every request has Host, so nothing would be stored")
		}
	}
}

const wantCookie = "must be the name of a cookie; a * at its end stands for any ending"

// names checks a list of tokens. Each may end in ending.
func (v *validator) names(path string, names []string, ending, want string) {
	for i, name := range names {
		at := item(path, i)
		if bare := strings.TrimSuffix(name, ending); (name == "" || strings.ContainsFunc(bare, notToken)) && v.noErrorAt(at) {
			v.fail(at, want)
		}
	}
}

// notToken reports whether r is not allowed in a token (RFC 9110 section 5.6.2). It refuses *
// as well, which looks like a wildcard.
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}*`, r)
}

// ttlByStatus reads a section of status codes and their lifetimes.
func (d *decoder) ttlByStatus(dst *map[int]time.Duration) func(node) {
	return func(n node) {
		*dst = map[int]time.Duration{}
		d.each(n, "must be a section of statuses and lifetimes, such as {404: 10s}", func(name string, n node) {
			status, ok := parseStatus(name)
			if !ok {
				d.failWithValue(n.path, "", "must be a status as key: 200 to 599, but not 206 or 304")
				return
			}
			ttl := time.Minute
			d.duration(&ttl)(n)
			(*dst)[status] = ttl
		})
	}
}

// parseStatus reads a status code of 200 to 599, but not 206 or 304.
func parseStatus(s string) (status int, ok bool) {
	if len(s) != 3 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		status = 10*status + int(c-'0')
	}
	return status, status >= 200 && status <= 599 && status != 206 && status != 304
}

// caching returns the cache settings of a route. Its cache section is at path and holds own.
// Keys that the section lacks have the values for all routes; strip_cookies and keep_cookies
// stand in for each other.
func (c *Config) caching(src *source, path string, own *setting.Caching) setting.Caching {
	out := overlaid(c.Cache.Caching, own, cachingTable, src, path)
	switch strips, keeps := src.given(child(path, "strip_cookies")), src.given(child(path, "keep_cookies")); {
	case strips && !keeps:
		out.KeepCookies = nil
	case keeps && !strips:
		out.StripCookies = nil
	}
	return out
}

// descendant returns the path of a key several sections below path; keys has dots between them.
func descendant(path, keys string) string {
	for key := range strings.SplitSeq(keys, ".") {
		path = child(path, key)
	}
	return path
}

// minSlice keeps the overhead of a slice small, relative to its bytes.
const minSlice Size = 16 * KiB

// slice checks the size of slices.
func (v *validator) slice(at string, n Size) {
	const maxObject = "cache.memory.max_object_bytes"
	if most := v.c.Cache.Memory.MaxObjectBytes; n != 0 && (n < minSlice || n > most) && v.noErrorAt(at, maxObject) {
		v.fail(at, "must be 0B for none, or "+minSlice.String()+" to "+most.String()+", which is max_object_bytes")
	}
}

// defaultTagFields are the fields that content management systems and CDNs send tags in.
func defaultTagFields() []string {
	return []string{"Surrogate-Key", "Cache-Tag", "xkey", "X-Magento-Tags", "X-Cache-Tags", "x-amz-meta-cache-tag", "Cache-Tags", "Purge-Cache-Tags"}
}

// tagFields checks the names of fields with tags: what else a response says has to reach the client.
func (v *validator) tagFields(path string, names []string) {
	v.names(path, names, "", "must be the name of a header field, without *")
	for i, name := range names {
		if at := item(path, i); v.noErrorAt(at) && notForTags(name) {
			v.fail(at, "must be a field that has tags and nothing else: it is not forwarded to clients")
		}
	}
}

// notForTags reports whether clients or this proxy need a field for something else.
func notForTags(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"content-", "access-control-", "proxy-", "if-", "accept-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"age", "allow", "cache-control", "cache-groups", "cache-status", "cdn-cache-control", "connection", "date", "etag", "expires", "last-modified", "link",
		"location", "retry-after", "server", "set-cookie", "strict-transport-security", "surrogate-control", "trailer", "transfer-encoding", "upgrade", "vary", "via",
		"www-authenticate",
	}, name)
}

// cookies checks which cookies are removed.
func (v *validator) cookies(path string, c *setting.Caching) {
	v.names(child(path, "strip_cookies"), c.StripCookies, "*", wantCookie)
	at := child(path, "keep_cookies")
	v.names(at, c.KeepCookies, "*", wantCookie)
	if len(c.StripCookies) > 0 && len(c.KeepCookies) > 0 && v.noErrorAt(at, child(path, "strip_cookies")) {
		v.fail(at, "must have no strip_cookies beside it: all cookies that are not listed here are removed")
	}
}

// caching checks the part of a cache section that routes may have too.
func (v *validator) caching(path string, c *setting.Caching) {
	v.slice(child(path, "slice"), Size(c.SliceBytes))
	v.bypass(child(path, "bypass"), &c.Bypass)
	v.cookies(path, c)
	v.tagFields(child(path, "tag_fields"), c.TagFields)
	trusts := func(l Listen) bool { return len(l.TrustedProxies) > 0 }
	if at := child(path, "send_tags"); c.SendTags && !slices.ContainsFunc(v.c.Listen, trusts) && v.noErrorAt(at, "listen") {
		v.fail(at, "needs trusted_proxies on a listener as well: tags are sent only to these")
	}
}
