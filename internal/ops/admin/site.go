package admin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"edgeproxy/internal/conn/rescue"
)

// route is one path of the site.
type route struct {
	methods []string // for Allow
	about   string   // for the list of paths
	public  bool     // needs no token
	handler http.Handler
}

// read returns a route for GET and HEAD.
func read(about string, h http.Handler) route {
	return route{methods: []string{http.MethodGet, http.MethodHead}, about: about, handler: h}
}

// public is read for a route that needs no token.
func public(about string, h http.Handler) route {
	r := read(about, h)
	r.public = true
	return r
}

// site is a table of exact paths behind the guard. It is not a http.ServeMux,
// because that redirects, and answers errors in plain text.
type site struct {
	guard  guard
	token  token
	wrong  *wrongTokens // may be nil where no token is required
	panics *rescue.Counter
	routes map[string]route
	list   string // the path of the list of routes
}

func (s *site) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w := &answer{ResponseWriter: out}
	defer s.rescue(w)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if why := s.guard.refusal(r); why != "" {
		writeError(w, http.StatusForbidden, why)
		return
	}
	to, ok := s.routes[r.URL.Path]
	if s.token.required && !to.public && !s.token.presentedBy(r) { // checked before the path: without the token a client does not learn which paths exist
		requireToken(w, r, s.wrong)
		return
	}
	if !ok {
		writeError(w, http.StatusNotFound, "no such path; "+s.list+" lists those there are")
		return
	}
	if !slices.Contains(to.methods, r.Method) {
		allow := strings.Join(to.methods, ", ")
		w.Header().Set("Allow", allow)
		writeError(w, http.StatusMethodNotAllowed, "method not allowed; must be "+allow)
		return
	}
	to.handler.ServeHTTP(w, r)
}

// rescue turns a panic into a 500, or closes the connection if the answer has begun.
func (s *site) rescue(w *answer) {
	v := recover()
	switch {
	case v == nil:
	case v == http.ErrAbortHandler: //nolint:errorlint // net/http compares it so
		panic(v)
	case w.begun:
		s.panics.Note(v)
		panic(http.ErrAbortHandler)
	default:
		s.panics.Note(v)
		writeError(w, http.StatusInternalServerError, "a fault of ours; the log has more")
	}
}

// answer is a ResponseWriter that knows whether the answer has begun.
type answer struct {
	http.ResponseWriter
	begun bool
}

func (a *answer) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// indexHandler lists the routes, including those that are added later.
func indexHandler(routes map[string]route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for _, path := range slices.Sorted(maps.Keys(routes)) {
			fmt.Fprintf(&b, "%-4s  %-8s  %s\n", routes[path].methods[0], path, routes[path].about)
		}
		writeText(w, http.StatusOK, b.String())
	})
}
