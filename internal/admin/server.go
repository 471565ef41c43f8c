package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/rescue"
)

// Limits of a connection. writeTimeout leaves room for scrapeTimeout.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	maxHeader     = 16 << 10
)

// Paths of the list of paths. That of the admin listener is under the token, as what it lists.
const (
	adminPage   = "/"
	adminList   = "/paths"
	metricsList = "/"
)

// Purger forgets stored responses, or with soft makes them stale. By is "url",
// "prefix", "host" or "tag", of which values has one or more, or "all", without a
// value. Objects is how many went, if counted says that somebody counted. An error
// says in words for the client which value is wrong; nothing was purged then, unless it has a
// method Purged() bool that says so. It is
// called by many goroutines at once.
type Purger interface {
	Purge(by string, values []string, soft bool) (objects int, counted bool, err error)
}

// Options are what the admin server needs. All functions and interfaces are
// called by many goroutines at once, and each is required.
type Options struct {
	// Address is the configured address, HOST:PORT or unix:PATH. Its host is
	// accepted as the Host of a request, with any port. "" and an address for
	// all interfaces name no host.
	Address string
	// Hosts are further values accepted as Host: a name or an address, for any
	// port or, written HOST:PORT, for that one.
	Hosts []string
	// Token is what a request has to show as Authorization: Bearer, but for Page, health
	// and metrics; "" is nothing.
	Token string
	// Page answers GET and HEAD of / with a page for browsers. It needs no token, so it must hold no data.
	Page http.Handler
	// Profiles shows profiles of the process under /debug/pprof/.
	Profiles bool
	// Registry holds the metrics shown.
	Registry prometheus.Gatherer
	// Ready says whether the proxy should get traffic, and if not why, in one
	// line. If it should, the line is what is wrong all the same; "" is nothing.
	Ready func() (ready bool, reason string)
	// Status returns the state of the proxy, in a form that encoding/json can
	// encode and that nobody writes to any more.
	Status func() any
	// Purger forgets stored responses.
	Purger Purger
	// Lookup says what would become of a request for url by method with these fields, in a form that encoding/json can
	// encode, and changes nothing. It may wait for the disk. An error says in words for the client what is wrong with the request. Nil is
	// no such path.
	Lookup func(method, url string, fields [][2]string) (answer any, err error)
	// Top says which hosts and URLs most of the traffic goes to, in lists of at most so many rows, and Requests which requests
	// have run for longest, at most so many; in a form as that of Status. Nil is no such path.
	Top, Requests func(rows int) any
	// Reload applies the configuration again, and returns the status of the answer and
	// its body, in a form that encoding/json can encode. It returns soon after its context
	// ends. Nil is no such path.
	Reload func(context.Context) (status int, answer any)
	// Disk shows the disk tier; nil is no such paths.
	Disk Disk
	// Panics notes those that end a request; nil notes none.
	Panics *rescue.Counter
	// Log gets what goes wrong in connections and scrapes, and each purge.
	Log *slog.Logger
}

// MetricsOptions are what the metrics server needs; each is required and means
// the same as in Options.
type MetricsOptions struct {
	Registry prometheus.Gatherer
	Ready    func() (ready bool, reason string)
	Panics   *rescue.Counter
	Log      *slog.Logger
}

// Server answers on one listener. Its methods are safe for concurrent use.
type Server struct {
	http      http.Server
	site      atomic.Pointer[site]
	listeners *listeners
}

// ServeHTTP answers by the options that are in force.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.site.Load().ServeHTTP(w, r) }

// New returns the admin server. An error names the option that is missing or
// cannot be understood.
func New(o Options) (*Server, error) {
	l := newListeners()
	s, err := newSite(o, l)
	if err != nil {
		return nil, err
	}
	return newServer(s, l, o.Log), nil
}

// Prepare checks further options. Use has requests that come from then on go by them, all
// but the Log of connections, and ends the streams of events, which come back; it cannot fail. An error is that of New.
func (s *Server) Prepare(o Options) (use func(), err error) {
	next, err := newSite(o, s.listeners)
	if err != nil {
		return nil, err
	}
	return func() {
		s.site.Store(next)
		s.listeners.end(false)
	}, nil
}

func newSite(o Options, l *listeners) (*site, error) {
	g, err := newGuard(o.Address, o.Hosts)
	if err != nil {
		return nil, fmt.Errorf("admin server: %w", err)
	}
	g.page = adminPage
	err = errors.Join(missing(o.Registry, o.Ready, o.Log),
		want(o.Page != nil, "Page"), want(o.Status != nil, "Status"), want(o.Purger != nil, "Purger"))
	if err != nil {
		return nil, fmt.Errorf("admin server: %w", err)
	}
	routes := commonRoutes(o.Registry, o.Ready, o.Log)
	routes[adminPage] = public("the dashboard, for browsers", o.Page)
	routes["/status"] = read("the state of the proxy, in JSON", statusHandler(o.Status, o.Log))
	routes["/events"] = read("the state of the proxy each second, as server-sent events", eventsHandler(l, o.Status, o.Log))
	routes["/purge"] = route{
		methods: []string{http.MethodPost},
		about:   `forget responses: {"url": "http://HOST/PATH"} or a list of them; "prefix", "host", "tag" as well, or {"all": true}; with "soft": true make them stale`,
		handler: purgeHandler(o.Purger, o.Log),
	}
	if o.Lookup != nil {
		routes["/lookup"] = read("?url=http://HOST/PATH: what is stored for it, how often it was asked for, and what would become of a request; &method=, &header=NAME: VALUE as well", lookupHandler(o.Lookup, o.Log))
	}
	if o.Top != nil {
		routes["/top"] = read("the hosts and URLs that most of the traffic goes to; ?n= is how many, 20 if not said", listHandler(o.Top, 20, o.Log))
	}
	if o.Requests != nil {
		routes["/requests"] = read("the requests that run now, the oldest first; ?n= is how many, 100 if not said", listHandler(o.Requests, mostRows, o.Log))
	}
	if o.Reload != nil {
		routes["/reload"] = route{
			methods: []string{http.MethodPost}, about: "apply the configuration file again; says what changed, and what needs a restart",
			handler: reloadHandler(o.Reload, o.Log),
		}
	}
	if o.Disk != nil {
		addDisk(routes, o.Disk, o.Log)
	}
	if o.Profiles {
		addProfiles(routes)
	}
	routes[adminList] = read("this list", indexHandler(routes))
	return &site{guard: g, token: newToken(o.Token), panics: o.Panics, routes: routes, list: adminList}, nil
}

// NewMetrics returns a server with /livez, /readyz and /metrics only. It
// accepts any Host: what it shows has no URL in it, and scrapers use names of
// their own. An error names the option that is missing.
func NewMetrics(o MetricsOptions) (*Server, error) {
	if err := missing(o.Registry, o.Ready, o.Log); err != nil {
		return nil, fmt.Errorf("metrics server: %w", err)
	}
	routes := commonRoutes(o.Registry, o.Ready, o.Log)
	routes[metricsList] = public("this list", indexHandler(routes))
	return newServer(&site{guard: guard{anyHost: true}, panics: o.Panics, routes: routes, list: metricsList}, newListeners(), o.Log), nil
}

func missing(registry prometheus.Gatherer, ready func() (bool, string), log *slog.Logger) error {
	return errors.Join(want(registry != nil, "Registry"), want(ready != nil, "Ready"), want(log != nil, "Log"))
}

func want(there bool, option string) error {
	if there {
		return nil
	}
	return fmt.Errorf("option %s is missing", option)
}

func commonRoutes(registry prometheus.Gatherer, ready func() (bool, string), log *slog.Logger) map[string]route {
	return map[string]route{
		"/livez":   public("200 while the process runs", http.HandlerFunc(live)),
		"/readyz":  public("200 while traffic is welcome, else 503 and the reason", readyHandler(ready)),
		"/metrics": public("metrics for Prometheus", metricsHandler(registry, log)),
	}
}

func newServer(first *site, l *listeners, log *slog.Logger) *Server {
	s := &Server{listeners: l}
	s.site.Store(first)
	s.http = http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// Or "OPTIONS *" would be answered before the guard sees it.
		DisableGeneralOptionsHandler: true,
	}
	return s
}

// Serve answers on l until Close, and then returns nil; any other end is an
// error. It closes l. After Close it returns at once.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Close stops listening, ends the streams of events, waits for the requests under way until ctx is done,
// and then cuts their connections and cancels their contexts. It returns an
// error that wraps ctx.Err() if it had to cut. A handler that is inside Status,
// Ready, a Purger or a collector at that moment is not waited for.
func (s *Server) Close(ctx context.Context) error {
	s.listeners.end(true)
	err := s.http.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("close the admin server: %w", errors.Join(err, s.http.Close()))
}
