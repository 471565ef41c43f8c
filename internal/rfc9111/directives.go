package rfc9111

import (
	"strings"

	"edgeproxy/internal/field"
)

// maxFieldNames bounds the names kept of private="…" and no-cache="…". With more
// of them the directive counts as unqualified, which is stricter.
const maxFieldNames = 64

// ResponseDirectives is what a response's Cache-Control says (RFC 9111 section
// 5.2.2). Unknown directives are left out, as section 5.2.3 demands.
//
// Directives that restrict count however they are written. Public,
// MustUnderstand and Immutable, which widen, count only without an argument and
// in a member that follows the grammar. MustRevalidate does both: it is set however it was
// written, but lets a response to a request with Authorization be stored only
// where it was written right.
type ResponseDirectives struct {
	NoStore         bool // section 5.2.2.5
	NoCache         bool // section 5.2.2.4, unqualified
	Private         bool // section 5.2.2.7, unqualified
	Public          bool // section 5.2.2.9
	MustRevalidate  bool // section 5.2.2.2
	ProxyRevalidate bool // section 5.2.2.8
	MustUnderstand  bool // section 5.2.2.3

	// NoCacheFields and PrivateFields are the fields named by the qualified
	// forms, in canonical form and as often as named; nil if there are none. Next
	// to the unqualified form, which covers them, they may be incomplete. A form
	// that names a field without which the response would be another one, such as
	// Content-Encoding, counts as unqualified.
	NoCacheFields, PrivateFields []string

	MaxAge  Delta // section 5.2.2.1; of several the smallest
	SMaxAge Delta // section 5.2.2.10; of several the smallest

	Immutable            bool  // RFC 8246
	StaleWhileRevalidate Delta // RFC 5861 section 3; of several the smallest
	StaleIfError         Delta // RFC 5861 section 4; of several the smallest

	sureRevalidate bool // must-revalidate was written right
	targeted       bool // read from CDN-Cache-Control or Surrogate-Control
}

// ParseResponse reads all Cache-Control lines of h as one list. It always
// succeeds; the names it returns may share the strings of h.
func ParseResponse(h field.List) ResponseDirectives {
	var d ResponseDirectives
	for i := range h {
		if h[i].Name != "Cache-Control" {
			continue
		}
		p := parser[string]{rest: h[i].Value}
		for p.next() {
			d.apply(&p.at)
		}
	}
	return d
}

func (d *ResponseDirectives) apply(x *directive[string]) {
	switch name := x.name; {
	case equalFold(name, "no-store"):
		d.NoStore = true
	case equalFold(name, "no-cache"):
		qualify(x, &d.NoCache, &d.NoCacheFields)
	case equalFold(name, "private"):
		qualify(x, &d.Private, &d.PrivateFields)
	case equalFold(name, "public"):
		widen(x, &d.Public)
	case equalFold(name, "must-revalidate"):
		d.MustRevalidate = true
		widen(x, &d.sureRevalidate)
	case equalFold(name, "proxy-revalidate"):
		d.ProxyRevalidate = true
	case equalFold(name, "must-understand"):
		widen(x, &d.MustUnderstand)
	case equalFold(name, "max-age"):
		d.MaxAge = stricter(d.MaxAge, deltaOf(x))
	case equalFold(name, "s-maxage"):
		d.SMaxAge = stricter(d.SMaxAge, deltaOf(x))
	default:
		d.applyExtension(x)
	}
}

// applyExtension applies the directives of later RFCs.
func (d *ResponseDirectives) applyExtension(x *directive[string]) {
	switch name := x.name; {
	case equalFold(name, "immutable"):
		widen(x, &d.Immutable)
	case equalFold(name, "stale-while-revalidate"):
		d.StaleWhileRevalidate = stricter(d.StaleWhileRevalidate, deltaOf(x))
	case equalFold(name, "stale-if-error"):
		d.StaleIfError = stricter(d.StaleIfError, deltaOf(x))
	}
}

// widen sets flag if x may widen the use of a response.
func widen(x *directive[string], flag *bool) { *flag = *flag || x.bare() }

// qualify notes x as qualified by the field names in its argument, or as
// unqualified where these cannot be read.
func qualify(x *directive[string], all *bool, names *[]string) {
	if *all {
		return
	}
	list, ok := fieldNames(x.arg)
	if !ok || !x.sure || len(list)+len(*names) > maxFieldNames {
		*all = true
		return
	}
	*names = append(*names, list...)
}

// fieldNames reads a comma-separated list of one to maxFieldNames names of fields
// that a message can do without. A name with a single quote is a list that was quoted
// wrongly.
func fieldNames(list string) (names []string, ok bool) {
	for member := ""; len(list) > 0; {
		member, list = cutMember(list)
		if member == "" {
			continue
		}
		if !field.ValidName(member) || strings.Contains(member, "'") || !removable(member) || len(names) == maxFieldNames {
			return nil, false
		}
		names = append(names, field.Canonical(member))
	}
	return names, len(names) > 0
}

// shared reports whether the origin says in so many words that a shared cache
// may keep the response: public, or a readable s-maxage.
func (d *ResponseDirectives) shared() bool { return d.Public || d.SMaxAge.Valid() }

// authorized reports whether a response to a request with Authorization may be
// stored (RFC 9111 section 3.5).
func (d *ResponseDirectives) authorized() bool { return d.shared() || d.sureRevalidate }
