package proxy

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/setting"
)

// Route says what happens to the requests it matches.
type Route struct {
	// Name is unique; it labels metrics and log lines.
	Name string
	// Match are the requests that it is for. fieldrules.Keyable reports the names of its Fields. With any, and
	// with a Query that Key drops, responses that the route stores are found by it alone. With either,
	// NoVarySearch is off: its rules are of all routes that share a path.
	routing.Match

	// Access says whose requests the route answers; others get 403.
	Access Access
	// ErrorPages stand for the content of errors; nil are none.
	ErrorPages *ErrorPages
	// Answer is what the route says itself. Without one it has an Origin.
	Answer *OwnAnswer
	Origin *origin.Origin
	// Rewrite gives requests to the origin another path; nil does not.
	Rewrite *rewrite.Rule
	// Connect is how long a connection to the origin may take, FirstByte a response head, Idle one read of a
	// body or one write; 0 is what its options say.
	Connect, FirstByte, Idle time.Duration
	// Total is how long all of an exchange with the origin may take, from its beginning to the last byte of the body; 0 is any
	// time. It does not bound what comes behind a switch of protocols.
	Total time.Duration
	// HostHeader is what the origin gets as Host; "" is the client's.
	HostHeader string
	Rule       admission.Rule
	// Caching is what is stored, under which key, and for how long. Its SliceBytes are at most MaxObjectBytes of the Proxy, and its Key
	// may name fields that fieldrules.Keyable reports.
	setting.Caching
	// AnyLanguageOrder says that the order in Accept-Language does not count. It has no
	// meaning of its own (RFC 9110 section 12.5.4), but some origins take it for one.
	AnyLanguageOrder bool
	// Request are the rules for the fields of requests. They apply to what is forwarded, and
	// so to what is keyed. Range, conditions and Cache-Control are read before. Response are
	// the rules for responses of the origin, which apply before anything else reads them.
	// They are made by fieldrules.ForRequests and fieldrules.ForResponses.
	Request, Response fieldrules.Rules
	// Generated are the rules for the fields of our own answers to requests of the route, errors included. They are made by fieldrules.ForGenerated.
	Generated fieldrules.Rules
	// Log says which requests have a line in the access log.
	Log setting.Log
	// UnusualNames lets request fields through whose name has other than letters, digits
	// and hyphens in it.
	UnusualNames bool
	// Compress says which responses of the origin are compressed. It is off with SliceBytes: a slice has to be of
	// bytes that the origin knows.
	Compress compress.Rules
	// Rate is how often one client may ask, of what this route matches.
	Rate rate.Limit
	// AllowAmbiguousPath lets targets with encoded slashes, dot segments and the
	// like be stored.
	AllowAmbiguousPath bool
}

// route is a Route with its counters.
type route struct {
	*Route
	Key       *cachekey.Rules // the rules that Route.Key says
	metrics   *routeMetrics
	uses      uses
	answer    *ownAnswer            // nil: the origin is asked
	generated fieldrules.Lines      // the fields of texts and pages of ours
	cookies   cachekey.CookieFilter // StripCookies or KeepCookies
	tags      purge.TagFields       // the fields that TagFields names
	// identifies says that each request has an id; see RequestID.
	identifies bool
	// selecting are the names of the fields by which any route goes.
	selecting []string
	all       []*route     // the routes of its settings, in their order
	encoders  *clientSlots // one client's slots, among all routes
}

func newRoute(r *Route, m *Metrics) (*route, error) {
	own := *r
	key, err := cachekey.New(own.Key)
	if err != nil {
		return nil, fmt.Errorf("route %s: %w", r.Name, err)
	}
	if own.Access.Users != nil {
		own.Request.Rules = own.Request.Dropping("Authorization") // it was for us
	}
	own.NoVarySearch = own.NoVarySearch && len(own.Fields)+len(own.Query) == 0
	if !own.keysMatch(key) {
		key = key.Within(own.Name)
	}
	own.Partial, own.BoundErrors = true, true // see span
	own.Bypass.Headers = canonical(own.Bypass.Headers)
	own.Fields = slices.Clone(own.Fields)
	for i := range own.Fields {
		own.Fields[i].Name = field.Canonical(own.Fields[i].Name)
	}
	if own.SliceBytes > 0 {
		own.Compress.Codings = nil
	}
	return &route{
		Route: &own, Key: key, uses: own.usesAlone(), tags: purge.NewTagFields(own.TagFields...), metrics: m.forRoute(r.Name), answer: newOwnAnswer(r.Answer, &own.Generated), generated: fieldrules.OfTexts(&own.Generated),
		cookies:    cachekey.NewCookieFilter(own.StripCookies, own.KeepCookies, own.Bypass.Cookies, key),
		identifies: own.Request.HasRequestID() || own.Generated.HasRequestID() || r.Answer != nil && r.Answer.Fields.HasRequestID(),
	}, nil
}

// canonical returns the names of fields in canonical form.
func canonical(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = field.Canonical(name)
	}
	return out
}

// uses are what a route has that most routes have not. They are found once for each route, so that a request
// asks for all of them by one number.
type uses uint16

const (
	usesGuards     uses = 1 << iota // its clients may be refused; see admitsClient
	usesPasswords                   // it answers users only
	usesIgnoring                    // it takes no notice of something that a request asks for
	usesOwnTarget                   // it answers itself, or rewrites the path for its origin
	usesBypass                      // fields or cookies make a request pass by the cache
	usesQueryRules                  // responses say which queries mean the same
	usesOwnPages                    // it has pages for errors that its origin sends
	usesTags                        // it sends tags to trusted proxies
)

// usesAlone returns what r uses, whatever the other routes do.
func (r *Route) usesAlone() (u uses) {
	for _, has := range []struct {
		it  bool
		bit uses
	}{
		{r.Rate.Bounds(), usesGuards},
		{r.Access.Users != nil, usesPasswords},
		{!r.HonorNoStore || !r.Upgrades, usesIgnoring},
		{r.Answer != nil || r.Rewrite != nil, usesOwnTarget},
		{len(r.Bypass.Headers)+len(r.Bypass.Cookies) > 0, usesBypass},
		{r.NoVarySearch, usesQueryRules},
		{r.ErrorPages != nil && r.ErrorPages.Intercept, usesOwnPages},
		{r.SendTags, usesTags},
	} {
		if has.it {
			u |= has.bit
		}
	}
	return u
}

// closed reports whether r may keep a client out that another route lets in.
func (r *route) closed() bool {
	return r.Access.guarded() || r.Access.Users != nil || r.answer != nil && r.answer.Status >= statusBadRequest
}

// keysMatch reports whether the keys of the route have all that it goes by. Then no route behind it has such
// a key, for its requests do not match r, nor do they when its own rules take parameters away.
func (r *Route) keysMatch(key *cachekey.Rules) bool {
	return len(r.Fields) == 0 && !slices.ContainsFunc(r.Query, func(m routing.ValueMatch) bool { return !key.KeepsParameter(m.Name) })
}

// ask sends a request to the origin, and returns its answer as the rules of the route have
// it.
func (r *route) ask(ctx context.Context, request *origin.Request) (*origin.Response, error) {
	r.boundTotal(request)
	resp, err := r.Origin.RoundTrip(ctx, request)
	return r.rewritten(request, resp, err)
}

// boundTotal notes that the time which Route.Total bounds begins now. Asking once more does not begin it anew.
func (r *route) boundTotal(request *origin.Request) {
	if request.Total > 0 && request.Begun.IsZero() {
		request.Begun = now()
	}
}

// rewritten returns an answer of the origin to request as the rules of the route have it.
func (r *route) rewritten(request *origin.Request, resp *origin.Response, err error) (*origin.Response, error) {
	if err != nil {
		return resp, err
	}
	r.comeBack(request, resp)
	if r.Response.Rules != nil {
		resp.Header = r.responseFields(resp.Header, request)
	}
	r.compressed(request, resp)
	return resp, err
}

// What follows finds the route of a request among those in force: the first whose routing.Match holds.
//
// Scheme, host and target are in every key. So routes that differ in host, path and query alone never
// share a stored response, as long as the rules for keys leave what a route goes by in the target. Fields
// are not in the key. A route that goes by what its key does not have has its name there (newRoute).

// routeAt returns the first route that takes x, were path the one that x asks for; nil if none does. It allocates
// nothing once x.folded has room.
func (x *routed) routeAt(path, method []byte) *route {
	for _, r := range x.settings.routes {
		if r.TakesPath(path) && r.takesBesidePath(&x.incoming, method) {
			return r
		}
	}
	return nil
}

// takesBesidePath reports whether r takes x, as far as all but the path says.
func (r *route) takesBesidePath(x *incoming, method []byte) bool {
	if string(method) == "HEAD" {
		method = []byte("GET")
	}
	return r.TakesSite(x.scheme, x.host) && r.TakesMethod(method) && (len(r.Query) == 0 || r.TakesQuery(x.target.Query(), &x.folded)) && r.TakesFields(x)
}

// routeMethod is the method by which x finds its route. A PURGE is for what GETs have stored.
func (x *incoming) routeMethod() []byte {
	if !x.retrieves() && x.purges() {
		return []byte("GET")
	}
	return x.method
}

// routesOf returns those of all routes that a GET for target at host may have, in their order. Which of
// them it has is for its fields to say.
func routesOf(all []*route, scheme string, host []byte, target wire.Target) (out []*route) {
	var room []byte
	for _, r := range routesOfPath(all, scheme, host, target) {
		if !r.TakesQuery(target.Query(), &room) {
			continue
		}
		if out = append(out, r); len(r.Fields) == 0 {
			break
		}
	}
	return out
}

// routesOfPath is routesOf for the path of target, whatever the query.
func routesOfPath(all []*route, scheme string, host []byte, target wire.Target) (out []*route) {
	path := wire.AppendPath(nil, target.Path)
	for _, r := range all {
		if !r.TakesURL(scheme, host, path) || !r.TakesMethod([]byte("GET")) {
			continue
		}
		if out = append(out, r); len(r.Fields)+len(r.Query) == 0 {
			break
		}
	}
	return out
}

// fieldsOfRoutes returns the names of the fields by which any route goes.
func fieldsOfRoutes(routes []*route) (names []string) {
	for _, r := range routes {
		for _, m := range r.Fields {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// imitates reports whether an origin may take the field of this canonical name for one by which some route
// goes: also on a route that goes by none, which has the URL where the field itself is not there.
func (r *route) imitates(name string) bool {
	if len(r.selecting) == 0 || slices.Contains(r.selecting, name) {
		return false
	}
	name = field.Hyphenated(name)
	return slices.ContainsFunc(r.selecting, func(s string) bool { return field.Hyphenated(s) == name })
}

// FieldValue implements routing.Fields. It returns the value that routes compare: that of all lines of a field that would be
// forwarded, in one (RFC 9110 section 5.3; RFC 9113 section 8.2.3 for Cookie). No route is known yet, so no rules of one
// have a say. The value is valid until the next call.
func (x *incoming) FieldValue(name string) (value []byte, ok bool) {
	lines := x.clientLines(name)
	if len(lines) == 0 {
		return nil, false
	}
	if len(lines) == 1 {
		return bytes.Trim(lines[0], " \t"), true
	}
	between := ", "
	if name == "Cookie" {
		between = "; "
	}
	x.folded = x.folded[:0]
	for i, line := range lines {
		if i > 0 {
			x.folded = append(x.folded, between...)
		}
		x.folded = append(x.folded, bytes.Trim(line, " \t")...)
	}
	return x.folded, true
}
