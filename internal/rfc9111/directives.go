package rfc9111

import "edgeproxy/internal/field"

// maxFieldNames bounds the names kept of private="…" and no-cache="…". With more
// of them the directive counts as unqualified, which is stricter.
const maxFieldNames = 64

// ResponseDirectives is what a response's Cache-Control says (RFC 9111 section
// 5.2.2). Unknown directives are left out, as section 5.2.3 demands.
//
// Directives that restrict count however they are written. Public and
// MustUnderstand, which widen, count only without an argument and in a member
// that follows the grammar. MustRevalidate does both: it is set however it was
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
	// to the unqualified form, which covers them, they may be incomplete.
	NoCacheFields, PrivateFields []string

	MaxAge  Delta // section 5.2.2.1; of several the smallest
	SMaxAge Delta // section 5.2.2.10; of several the smallest

	sureRevalidate bool // must-revalidate was written right
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

// fieldNames reads a comma-separated list of one to maxFieldNames field names.
func fieldNames(list string) (names []string, ok bool) {
	for member := ""; len(list) > 0; {
		member, list = cutMember(list)
		if member == "" {
			continue
		}
		if !field.ValidName(member) || len(names) == maxFieldNames {
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

// RequestDirectives is what a request's Cache-Control says (RFC 9111 section
// 5.2.1). The zero value is that of a request without the field.
type RequestDirectives struct {
	NoStore      bool // section 5.2.1.5
	NoCache      bool // section 5.2.1.4
	OnlyIfCached bool // section 5.2.1.7; counts only where the grammar is kept

	MaxAge   Delta // section 5.2.1.1; of several the smallest
	MinFresh Delta // section 5.2.1.3; of several the largest
	// MaxStale is 2^31 seconds if given without an argument, which accepts any
	// staleness; of several the smallest. Section 5.2.1.2.
	MaxStale Delta
}

// Add reads one Cache-Control line. All lines of a request, added one by one in
// any order, make one list. It neither keeps value nor allocates, and always
// succeeds.
func (d *RequestDirectives) Add(value []byte) {
	p := parser[[]byte]{rest: value}
	for p.next() {
		d.apply(&p.at)
	}
}

func (d *RequestDirectives) apply(x *directive[[]byte]) {
	switch name := x.name; {
	case equalFold(name, "no-store"):
		d.NoStore = true
	case equalFold(name, "no-cache"):
		d.NoCache = true
	case equalFold(name, "only-if-cached"):
		d.OnlyIfCached = d.OnlyIfCached || x.bare()
	case equalFold(name, "max-age"):
		d.MaxAge = stricter(d.MaxAge, deltaOf(x))
	case equalFold(name, "min-fresh"):
		if m := deltaOf(x); !d.MinFresh.present || m.seconds > d.MinFresh.seconds {
			d.MinFresh = m
		}
	case equalFold(name, "max-stale"):
		m := deltaOf(x)
		if x.bare() {
			m = Delta{seconds: maxSeconds, present: true, valid: true}
		}
		d.MaxStale = stricter(d.MaxStale, m)
	}
}
