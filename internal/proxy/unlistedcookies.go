package proxy

import (
	"sync"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/route/cachekey"
)

// This file says for which cookies responses are not stored (reason.RequestCookie): names alone, and few of them, because clients choose
// them.

const (
	detailedCookies  = 3  // named in Cache-Status
	countedCookies   = 32 // names in /status
	namesPerRequest  = 16 // counted
	cookieNameBytes  = 64 // the bytes of a name that are kept
	moreCookiesThere = ", ..."
)

// appendCookieDetail appends the reason with the cookies of x that are not in its key. A name is a token, so the quotes hold.
func (x *exchange) appendCookieDetail(b []byte) []byte {
	start, n := len(b), 0
	b = append(b, '"')
	b = append(b, x.reason.String()...)
	for name := range x.route.Key.OtherCookies(x.forwardedLines("Cookie")) {
		switch n++; {
		case n > detailedCookies:
			return append(b, moreCookiesThere+`"`...)
		case n == 1:
			b = append(b, ": "...)
		default:
			b = append(b, ", "...)
		}
		b = append(b, name[:min(len(name), cookieNameBytes)]...)
	}
	if n == 0 { // they have no valid names
		return append(b[:start], x.reason.String()...)
	}
	return append(b, '"')
}

// cookieCounts counts responses by the cookies for which they were not stored. It keeps the names that come most often: one that is not
// there takes the place and the count of the least. So a count may be too high, and what comes often cannot be pushed out.
type cookieCounts struct {
	mu    sync.Mutex
	names []cookieCount // different names
}

type cookieCount struct {
	name  string
	count int64
}

// add counts each cookie in the lines of Cookie that is not in the key.
func (c *cookieCounts) add(key *cachekey.Rules, lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, line := range lines {
		for name := range key.OtherCookies([][]byte{[]byte(line)}) {
			if n++; n > namesPerRequest {
				return
			}
			c.addLocked(string(name[:min(len(name), cookieNameBytes)]))
		}
	}
}

func (c *cookieCounts) addLocked(name string) {
	least := 0
	for i := range c.names {
		if c.names[i].name == name {
			c.names[i].count++
			return
		}
		if c.names[i].count < c.names[least].count {
			least = i
		}
	}
	if len(c.names) < countedCookies {
		c.names = append(c.names, cookieCount{name, 1})
		return
	}
	c.names[least] = cookieCount{name, c.names[least].count + 1}
}

// counts returns the counts by name; nil: there are none.
func (c *cookieCounts) counts() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) == 0 {
		return nil
	}
	out := map[string]int64{}
	for _, one := range c.names {
		out[one.name] = one.count
	}
	return out
}

// countCookies counts the cookies of the request of f, where these are why it is not stored.
func (f *fill) countCookies(why reason.Reason) {
	if why == reason.RequestCookie {
		f.p.cookies.add(f.route.Key, f.request.Header.Values("Cookie"))
	}
}
