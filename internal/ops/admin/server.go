package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/conn/rescue"
)

// Limits of a connection. writeTimeout leaves room for scrapeTimeout.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	maxHeader     = 16 << 10
)

// Paths of the page and of the lists of paths. adminList needs the token, like the paths that it lists.
const (
	adminPage   = "/"
	adminList   = "/paths"
	metricsList = "/"
)

// Purger purges stored responses, or with soft makes them stale. by is "url",
// "prefix", "host" or "tag", with one or more values, or "all", without values.
// objects is how many were purged, if counted is true. An error says in words for
// the client which value is wrong. Nothing was purged then, unless the error has a
// method Purged() bool that returns true. It is safe for concurrent use.
type Purger interface {
	Purge(by string, values []string, soft bool) (objects int, counted bool, err error)
}

// Drainer takes the servers of this name of an origin out of use, or with out false lets them have requests again. It returns their
// state as in /status, or an error that says in words for the client which name is wrong. It is safe for concurrent use.
type Drainer interface {
	DrainServer(origin, server string, out bool) (state string, err error)
}

// Options are what the admin server needs. All functions and interfaces are called
// concurrently. Each is required unless it says otherwise.
type Options struct {
	// Address is the configured address, HOST:PORT or unix:PATH. Its host is
	// accepted as the Host of a request, with any port. "" and an address for
	// all interfaces name no host.
	Address string
	// Hosts are further values accepted as Host: a name or an address, for any
	// port or, written HOST:PORT, for that one.
	Hosts []string
	// Token is the token that requests need as Authorization: Bearer, except for Page,
	// health and metrics; "": none.
	Token string
	// Page answers GET and HEAD of / with a page for browsers. It needs no token, so it must hold no data.
	Page http.Handler
	// Profiles shows profiles of the process under /debug/pprof/.
	Profiles bool
	// Registry has the metrics of /metrics.
	Registry prometheus.Gatherer
	// Ready says whether the proxy should get traffic, and if not why, in one
	// line. If it should, reason is a lesser problem; "" is none.
	Ready func() (ready bool, reason string)
	// Status returns the state of the proxy, in a form that encoding/json can
	// encode. Nobody may change it afterwards.
	Status func() any
	// History returns what became of requests in the last hour, as columns, in a form as that of Status. Nil: no such path.
	History func() any
	// Purger answers /purge.
	Purger Purger
	// Lookup says what would happen to a request for url by method with these fields, in a form that encoding/json can
	// encode. It changes nothing. It may wait for the disk. An error says in words for the client what is wrong with the request. Nil: no
	// such path.
	Lookup func(method, url string, fields [][2]string) (answer any, err error)
	// Top returns the hosts and URLs with the most traffic, in lists of at most rows, and Requests the oldest requests in
	// progress, at most rows. The form is as in Status. Nil: no such path.
	Top, Requests func(rows int) any
	// Reload reloads the configuration, and waits for reloads before it. It returns the status of the answer and its body,
	// in a form that encoding/json can encode. Nil: no such path.
	Reload func() (status int, answer any)
	// Sightings answers /sightings. Nil: no such path.
	Sightings Sightings
	// Drainer answers /origins. Nil: no such path.
	Drainer Drainer
	// Disk shows the disk tier; nil: no such paths.
	Disk Disk
	// Panics counts panics of handlers; nil counts none.
	Panics *rescue.Counter
	// Log gets the errors of connections and scrapes, each purge, and how many requests had a wrong token.
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
	http        http.Server
	site        atomic.Pointer[site]
	subscribers *subscribers
	wrong       *wrongTokens
	sightings   sync.Mutex // held while sightings are sent, over reloads
}

// ServeHTTP answers with the options in force.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.site.Load().ServeHTTP(w, r) }

// New returns the admin server. An error names the option that is missing or
// cannot be understood.
func New(o Options) (*Server, error) {
	s := &Server{subscribers: &subscribers{}, wrong: newWrongTokens(o.Log)}
	first, err := s.newSite(o)
	if err != nil {
		return nil, err
	}
	s.start(first, o.Log)
	return s, nil
}

// WrongTokens returns how many requests had a wrong token.
func (s *Server) WrongTokens() int64 { return s.wrong.count() }

// Prepare checks new options. use puts them in force for later requests, except the Log of
// connections and of wrong tokens, and ends the streams of events, whose clients reconnect. use cannot fail. An error is as in New.
func (s *Server) Prepare(o Options) (use func(), err error) {
	next, err := s.newSite(o)
	if err != nil {
		return nil, err
	}
	return func() {
		s.site.Store(next)
		s.subscribers.end(false)
	}, nil
}

func (s *Server) newSite(o Options) (*site, error) {
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
	if o.History != nil {
		routes["/status/history"] = read("the last hour in steps of 10 s, in JSON, a column for each figure", statusHandler(o.History, o.Log))
	}
	routes["/events"] = read("the state of the proxy each second, as server-sent events", eventsHandler(s.subscribers, o.Status, o.Log))
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
		routes["/requests"] = read("the requests that run now, the oldest first; ?n= is how many, 100 if not said", listHandler(o.Requests, maxRows, o.Log))
	}
	if o.Reload != nil {
		routes["/reload"] = route{
			methods: []string{http.MethodPost}, about: "apply the configuration file again; says what changed, and what needs a restart",
			handler: reloadHandler(o.Reload, o.Log),
		}
	}
	if o.Sightings != nil {
		routes["/sightings"] = read("?nonce=&proof=: the filters of admission, encrypted with the fleet's secret, for edgeproxy state fetch", sightingsHandler(o.Sightings, &s.sightings, o.Log))
	}
	if o.Drainer != nil {
		routes["/origins"] = route{
			methods: []string{http.MethodPost},
			about:   `take a server of an origin out of use, until a restart: {"origin": "NAME", "server": "HOST:PORT", "state": "drain"}; "ready" lets it have requests again`,
			handler: drainHandler(o.Drainer),
		}
	}
	if o.Disk != nil {
		addDisk(routes, o.Disk, o.Log)
	}
	if o.Profiles {
		addProfiles(routes)
	}
	routes[adminList] = read("this list", indexHandler(routes))
	return &site{guard: g, token: newToken(o.Token), wrong: s.wrong, panics: o.Panics, routes: routes, list: adminList}, nil
}

// NewMetrics returns a server with /livez, /readyz and /metrics only. It
// accepts any Host: its answers contain no URLs, and scrapers use their own
// names. An error names the option that is missing.
func NewMetrics(o MetricsOptions) (*Server, error) {
	if err := missing(o.Registry, o.Ready, o.Log); err != nil {
		return nil, fmt.Errorf("metrics server: %w", err)
	}
	routes := commonRoutes(o.Registry, o.Ready, o.Log)
	routes[metricsList] = public("this list", indexHandler(routes))
	s := &Server{subscribers: &subscribers{}, wrong: newWrongTokens(o.Log)}
	s.start(&site{guard: guard{anyHost: true}, panics: o.Panics, routes: routes, list: metricsList}, o.Log)
	return s, nil
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

// start makes s ready to Serve first.
func (s *Server) start(first *site, log *slog.Logger) {
	s.site.Store(first)
	s.http = http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         newConnections().state,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// Otherwise net/http would answer "OPTIONS *" before the guard sees it.
		DisableGeneralOptionsHandler: true,
	}
}

// Serve answers on l until Close, and then returns nil; any other end is an
// error. It closes l. After Close it returns at once.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Close stops listening, ends the streams of events, and waits for requests in progress until ctx is
// done. Then it closes their connections and cancels their contexts, and returns an error that wraps
// ctx.Err(). It does not wait for a handler that is inside Status, Ready, a Purger or a collector at
// that moment.
func (s *Server) Close(ctx context.Context) error {
	s.subscribers.end(true)
	defer s.wrong.close()
	err := s.http.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("close the admin server: %w", errors.Join(err, s.http.Close()))
}
