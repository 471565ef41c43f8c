package rfc9111

import (
	"strings"

	"edgeproxy/internal/http/field"
)

// maxFieldNames limits the field names of private="…" and no-cache="…". With more
// names the directive counts as unqualified, which is stricter.
const maxFieldNames = 64

// ResponseDirectives is what a response's Cache-Control says (RFC 9111 section
// 5.2.2). Unknown directives are ignored, as section 5.2.3 requires.
//
// A directive that restricts the use of a response counts even if it is malformed. Public,
// MustUnderstand and Immutable widen the use, so they count only without an argument and
// in a member that follows the grammar. MustRevalidate does both: it is set even if it is
// malformed, but only a well-formed one lets a response to a request with Authorization be
// stored.
type ResponseDirectives struct {
	NoStore         bool // section 5.2.2.5
	NoCache         bool // section 5.2.2.4, unqualified
	Private         bool // section 5.2.2.7, unqualified
	Public          bool // section 5.2.2.9
	MustRevalidate  bool // section 5.2.2.2
	ProxyRevalidate bool // section 5.2.2.8
	MustUnderstand  bool // section 5.2.2.3

	// NoCacheFields and PrivateFields are the field names of the qualified forms,
	// in canonical form, with repetitions; nil if there are none. They may be
	// incomplete if the unqualified form, which covers them, is also there. A
	// qualified form counts as unqualified if it names a field that a message
	// cannot do without, such as Content-Encoding.
	NoCacheFields, PrivateFields []string

	MaxAge  Delta // section 5.2.2.1; of several the smallest
	SMaxAge Delta // section 5.2.2.10; of several the smallest

	Immutable            bool  // RFC 8246
	StaleWhileRevalidate Delta // RFC 5861 section 3; of several the smallest
	StaleIfError         Delta // RFC 5861 section 4; of several the smallest

	sureRevalidate bool // must-revalidate was well-formed
	targeted       bool // read from CDN-Cache-Control or Surrogate-Control
}

// ParseResponse parses all Cache-Control lines of h as one list. It always
// succeeds. The names that it returns may share the strings of h.
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

// widen sets flag if x is written so that it may widen the use of a response.
func widen(x *directive[string], flag *bool) { *flag = *flag || x.bare() }

// qualify adds the field names in the argument of x to names. If they are malformed
// or too many, it sets all: x counts as unqualified.
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

// fieldNames parses a comma-separated list of one to maxFieldNames field names, all
// of them removable. A name with a single quote is refused: it is a list in the wrong
// quotes.
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

// shared reports whether the origin explicitly lets a shared cache store the
// response: by public, or by a valid s-maxage.
func (d *ResponseDirectives) shared() bool { return d.Public || d.SMaxAge.Valid() }

// authorized reports whether a response to a request with Authorization may be
// stored (RFC 9111 section 3.5).
func (d *ResponseDirectives) authorized() bool { return d.shared() || d.sureRevalidate }
