package admin

import (
	"net/http"
	"strings"
)

// guard refuses requests that a foreign page may have made a browser send.
type guard struct {
	anyHost bool
	hosts   []host
	page    string // path of the page without data that other sites may link to; "": none
}

func newGuard(address string, hosts []string) (guard, error) {
	accepted, err := acceptedHosts(address, hosts)
	return guard{hosts: accepted}, err
}

// refusal returns why the request is refused, "" if it is not. The text repeats
// nothing from the request.
func (g guard) refusal(r *http.Request) string {
	switch {
	case !g.accepts(r.Host):
		return "the Host is not one of this listener: must be a loopback one, such as localhost, the admin address, or one of admin.hosts"
	case foreignOrigin(r):
		return "the Origin is not this listener"
	case foreignSite(r) && !g.isLink(r):
		return "a page of another origin has made the request (Sec-Fetch-Site)"
	}
	return ""
}

func (g guard) accepts(value string) bool {
	if g.anyHost {
		return true
	}
	h, ok := parseHost(value)
	if !ok {
		return false
	}
	if h.loopback() {
		return true
	}
	for _, own := range g.hosts {
		if own.name == h.name && (own.port == "" || own.port == h.port) {
			return true
		}
	}
	return false
}

// foreignOrigin reports whether any Origin differs from the Host.
// Browsers leave the default port out of both, so the texts can be compared.
// "null" is foreign.
func foreignOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		scheme, authority, _ := strings.Cut(origin, "://")
		if scheme != "http" && scheme != "https" || !strings.EqualFold(authority, r.Host) {
			return true
		}
	}
	return false
}

// isLink reports whether a user followed a link to the page: the browser fetches a top-level document, which the other
// site cannot read (W3C Fetch Metadata, section 2). For a frame Sec-Fetch-Dest has another value.
func (g guard) isLink(r *http.Request) bool {
	return g.page != "" && r.Method == http.MethodGet && r.URL.Path == g.page &&
		hasOnly(r.Header, "Sec-Fetch-Mode", "navigate") && hasOnly(r.Header, "Sec-Fetch-Dest", "document")
}

// hasOnly reports whether h has the field exactly once, with that value.
func hasOnly(h http.Header, field, value string) bool {
	all := h.Values(field)
	return len(all) == 1 && all[0] == value
}

// foreignSite reports by Sec-Fetch-Site whether a page that is not ours made the request. It covers requests
// without an Origin: a GET for an image, a frame or a link. Pages of the same site are foreign too, as one of another port is. The value "none" is that of a user who
// entered the address.
func foreignSite(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if !strings.EqualFold(site, "same-origin") && !strings.EqualFold(site, "none") {
			return true
		}
	}
	return false
}
