package admin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"edgeproxy/internal/rescue"
)

// route is one path of the site.
type route struct {
	methods []string // as Allow lists them
	about   string   // for the index
	open    bool     // without the token, too
	handler http.Handler
}

// read is a route for GET and HEAD.
func read(about string, h http.Handler) route {
	return route{methods: []string{http.MethodGet, http.MethodHead}, about: about, handler: h}
}

// public is read, also for clients without the token.
func public(about string, h http.Handler) route {
	r := read(about, h)
	r.open = true
	return r
}

// site is the guard in front of a table of exact paths. It is not a
// http.ServeMux because that redirects, and answers errors in plain text.
type site struct {
	guard  guard
	token  token
	panics *rescue.Counter
	routes map[string]route
	list   string // the path that lists them
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
	if s.token.there && !to.open && !s.token.shown(r) { // without it a client does not even learn which paths there are
		demand(w, r)
		return
	}
	if !ok {
		writeError(w, http.StatusNotFound, "no such path; "+s.list+" lists those there are")
		return
	}
	if !slices.Contains(to.methods, r.Method) {
		allow := strings.Join(to.methods, ", ")
		w.Header().Set("Allow", allow)
		writeError(w, http.StatusMethodNotAllowed, "method not allowed; want "+allow)
		return
	}
	to.handler.ServeHTTP(w, r)
}

// rescue makes a panic a 500, or the end of the connection where an answer has begun.
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

// answer is a ResponseWriter that knows whether it has begun.
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

// indexHandler lists the routes, itself included once it is one of them.
func indexHandler(routes map[string]route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for _, path := range slices.Sorted(maps.Keys(routes)) {
			fmt.Fprintf(&b, "%-4s  %-8s  %s\n", routes[path].methods[0], path, routes[path].about)
		}
		writeText(w, http.StatusOK, b.String())
	})
}
