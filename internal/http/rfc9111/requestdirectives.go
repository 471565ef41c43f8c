package rfc9111

// RequestDirectives is what a request's Cache-Control says (RFC 9111 section
// 5.2.1). The zero value is that of a request without the field.
type RequestDirectives struct {
	NoStore      bool // section 5.2.1.5
	NoCache      bool // section 5.2.1.4
	OnlyIfCached bool // section 5.2.1.7; counts only if it is well-formed and has no argument
	NoTransform  bool // section 5.2.1.6

	MaxAge   Delta // section 5.2.1.1; of several the smallest
	MinFresh Delta // section 5.2.1.3; of several the largest
	// MaxStale is section 5.2.1.2; of several the smallest. Without an argument it
	// is 2^31 seconds, which accepts any staleness.
	MaxStale Delta
	// StaleIfError is RFC 5861 section 4; of several the smallest.
	StaleIfError Delta
}

// Add parses one Cache-Control line. Lines may be added in any order. Add always
// succeeds; it neither keeps value nor allocates.
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
	case equalFold(name, "no-transform"):
		d.NoTransform = true
	case equalFold(name, "only-if-cached"):
		d.OnlyIfCached = d.OnlyIfCached || x.bare()
	default:
		d.applyLimit(x)
	}
}

// applyLimit is apply for directives that have a number of seconds.
func (d *RequestDirectives) applyLimit(x *directive[[]byte]) {
	switch name := x.name; {
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
	case equalFold(name, "stale-if-error"):
		d.StaleIfError = stricter(d.StaleIfError, deltaOf(x))
	}
}
