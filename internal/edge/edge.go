package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/edge/internal/supervisor"
	"edgeproxy/internal/front/listen"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/admin"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/dial"
	"edgeproxy/internal/proxy"
)

// Edge is one running proxy: its rooms and its listeners. It starts and stops
// them in order. Its methods are safe for concurrent use once Start has returned, and after Stop.
//
// Each of its parts is built, used and closed together. A part knows core, and no other part: what needs several is
// a method of Edge.
type Edge struct {
	core
	lifecycle
	storage
	originSide
	clientSide
	certificates
	records

	level      *slog.LevelVar         // the level of log; nil: it never changes
	recent     *recentCounts          // nil: it has not started
	reloader   *reloader              // nil: no reloads
	supervisor *supervisor.Supervisor // nil: none wants notifications
	admin      *admin.Server
	control    []controlServer
}

// core is what all parts of an Edge know. It does not change once New has returned, except for now.
type core struct {
	config   *config.Config
	seams    Seams
	log      *slog.Logger
	version  string
	commit   string
	panics   *rescue.Counter
	started  time.Time
	registry *prometheus.Registry
	limits   []limitCounter
	proxy    *proxy.Proxy
	now      atomic.Pointer[live]
}

// lifecycle says whether an Edge serves, and has the goroutines of its listeners. It is safe for concurrent use.
type lifecycle struct {
	ready    atomic.Bool
	draining atomic.Bool
	failed   chan error // errors of listeners
	serving  sync.WaitGroup
	stopping sync.Once
}

// controlServer is the admin or the metrics listener.
type controlServer struct {
	server   *admin.Server
	listener net.Listener
}

// Options are what a configuration does not say. The zero value is a proxy that cannot reload.
type Options struct {
	Version    string         // the version of the program, for /status, metrics, certificate authorities and receivers of spans
	Commit     string         // the commit that the program was built from, for metrics; "" if it is unknown
	Source     *Source        // what the configuration was loaded from, for reloads; it is copied. nil: there is nothing to reload
	Level      *slog.LevelVar // the level of the log, which a reload sets; nil: it never changes
	Dropped    func() uint64  // lines of the log that were not written; it is safe for concurrent use. nil: nobody counts them
	Supervised bool           // notify the supervisor that the environment names (NOTIFY_SOCKET)
	Seams      Seams          // where a test takes hold of the proxy; the zero value is the network of this machine, and what rooms have by default
}

// Seams are where a test takes hold of a proxy. With a listener and connections of its own the proxy needs no sockets, and can run in
// the virtual time of testing/synctest. The functions are safe for concurrent use.
type Seams struct {
	// Listen opens the address of a listener: one for clients, that of admin or that of metrics. nil opens a socket.
	Listen func(address string) (net.Listener, error)
	// Connect makes a connection to one address of an origin server, IP:PORT or the path of a socket. It must return when its
	// context ends. nil connects a socket.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
	// Marks is the room for marks of purges, which no setting says; a number that is 0 is the default of package purge.
	Marks purge.Options
	// DiskWait is how long a read of the disk tier waits for its turn, and then for the device; 0 is the defaults of package disk.
	DiskWait time.Duration
}

// New builds the rooms of c, which Validate has checked, and opens the files that c names. It opens no address, and logs
// to log. The error is a config.Errors if a setting is at fault. After an error nothing is left open.
func New(c *config.Config, log *slog.Logger, o Options) (*Edge, error) {
	e := newEdge(c, log)
	e.seams, e.version, e.commit, e.level = o.Seams, o.Version, o.Commit, o.Level
	if err := e.build(); err != nil {
		e.Stop(context.Background())
		return nil, err
	}
	if o.Source != nil {
		e.reloader = newReloader(e, *o.Source)
	}
	if o.Supervised {
		e.findSupervisor()
	}
	if o.Dropped != nil {
		e.countDrops("program", o.Dropped)
	}
	return e, nil
}

// newEdge returns an Edge of which only core has been built.
func newEdge(c *config.Config, log *slog.Logger) *Edge {
	e := &Edge{
		core:      core{config: c, log: log, panics: rescue.NewCounter(log), started: time.Now(), registry: prometheus.NewRegistry()},
		lifecycle: lifecycle{failed: make(chan error, 8)},
	}
	e.storage.core, e.originSide.core, e.clientSide.core, e.certificates.core, e.records.core = &e.core, &e.core, &e.core, &e.core, &e.core
	return e
}

func (e *Edge) build() error {
	if err := admin.RegisterRuntime(e.registry, e.version, e.commit); err != nil {
		return fmt.Errorf("register runtime metrics: %w", err)
	}
	var err error
	e.pinned = pinned.NewTotal(e.config.Pinned())
	hasher, err := e.buildStore()
	if err != nil {
		return err
	}
	if e.config.AccessLog.Path != "" {
		if e.access, err = accesslog.Open(e.config.AccessLog.Path, accesslog.Options{OnError: e.accessLogFailed}); err != nil {
			return fmt.Errorf("access log: %w", err)
		}
		e.countDrops("access", e.access.Dropped)
	}
	e.buildTracing()
	if slices.ContainsFunc(e.config.Listen, func(l config.Listen) bool { return l.ProxyProtocol }) {
		e.peers = &listen.Peers{}
	}
	e.buildPace()
	e.dialer, e.calls = dial.New(dial.Options{Connect: e.seams.Connect, Panics: e.panics}), origin.NewMetrics(e.registry)
	first, err := e.buildLive(e.config, &live{})
	if err != nil {
		return err
	}
	e.now.Store(first)
	e.registry.MustRegister(origin.NewCollector(e.originStats))
	e.nameOrigins()
	if err := e.buildACME(); err != nil {
		return err
	}
	if e.spool, err = newSpool(e.config); err != nil {
		return fmt.Errorf("limits.spool_path: %w", err)
	}
	if e.proxy, err = proxy.New(e.proxyOptions(hasher, first)); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	e.buildListeners()
	return nil
}

// buildStore builds the disk tier, the store and admission.
func (e *Edge) buildStore() (cache.Hasher, error) {
	state, err := e.loadState()
	if err == nil {
		err = e.openDisk(seedOf(state))
	}
	if err == nil {
		e.store, err = cache.New(e.cacheOptions())
	}
	if err != nil {
		state.Close()
		return cache.Hasher{}, err
	}
	return e.buildAdmission(state)
}

// Listen opens every address, or takes over inherited sockets. The data addresses come last, so that everything
// else is in place when clients can connect. It is called once. After an error Stop closes what is open.
func (e *Edge) Listen() (err error) {
	if e.inherited, err = listen.Inherit(); err != nil {
		return err
	}
	if e.admin, err = admin.New(e.adminOptions(e.now.Load())); err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	e.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "edgeproxy_admin_wrong_tokens_total", Help: "Requests to the admin listener that had a wrong token.",
	}, func() float64 { return float64(e.admin.WrongTokens()) }))
	if err := e.listenControl(e.admin, e.config.Admin.Listen(), "admin"); err != nil {
		return err
	}
	if address := e.config.Metrics.Address; address != "" {
		server, err := admin.NewMetrics(admin.MetricsOptions{Registry: e.registry, Ready: e.readiness, Panics: e.panics, Log: e.log})
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		if err := e.listenControl(server, config.Listen{Address: address}, "metrics"); err != nil {
			return err
		}
	}
	for _, d := range e.listeners {
		if err := d.open(&e.clientSide, e.tlsConfig); err != nil {
			return err
		}
	}
	return e.inherited.Unused()
}

func (e *Edge) listenControl(s *admin.Server, l config.Listen, what string) error {
	ln, err := e.open(l, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	e.control = append(e.control, controlServer{s, ln})
	return nil
}

// Start serves. It returns at once, and is called once, after Listen. A listener that fails reports on Failed.
func (e *Edge) Start() {
	e.recent = newRecentCounts(e.snapshot, e.panics.Quietly)
	for _, c := range e.control {
		e.run(func() error { return c.server.Serve(c.listener) })
	}
	for _, d := range e.listeners {
		d.serve(e.run)
	}
	if e.acme != nil {
		e.acme.Start() // not before the listeners: the authority connects to them
	}
	e.reloader.start()
	e.gate.StartSaving() // last: a failed start must not overwrite the file
	e.ready.Store(true)
}

// run serves in a goroutine, until serve returns.
func (lc *lifecycle) run(serve func() error) {
	lc.serving.Go(func() { lc.report(serve()) })
}

func (lc *lifecycle) report(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		select {
		case lc.failed <- err:
		default:
		}
	}
}

// Metrics returns the metrics of GET /metrics.
func (e *Edge) Metrics() prometheus.Gatherer { return e.registry }

// Proxy returns the engine, which is usable from New to Stop.
func (e *Edge) Proxy() *proxy.Proxy { return e.proxy }

// Store returns the cache, which is usable from New to Stop.
func (e *Edge) Store() *cache.Store { return e.store }

// Disk returns the disk tier of the cache, nil if there is none.
func (e *Edge) Disk() *disk.Group { return e.disk }

// Failed returns a channel with the error of each listener that failed while it served, of the first few if nobody reads them.
// It is never closed. The other listeners go on serving: call Stop to end them.
func (e *Edge) Failed() <-chan error { return e.failed }

func (e *Edge) readiness() (ready bool, why string) {
	if e.ready.Load() {
		return true, e.diskTrouble()
	}
	if e.draining.Load() {
		return false, "draining"
	}
	return false, "starting"
}

// Addresses returns the data addresses that are open, with their ports, in the order of the configuration.
func (e *Edge) Addresses() []string {
	var out []string
	for _, d := range e.listeners {
		if d.listener != nil {
			out = append(out, d.listener.Addr().String())
		}
	}
	return out
}

// AdminAddress returns the address of the admin listener, "" if it is not open.
func (e *Edge) AdminAddress() string {
	if len(e.control) == 0 {
		return ""
	}
	return e.control[0].listener.Addr().String()
}

// ReopenLogs opens the access log anew, after a rotation. An error is logged, and the file before stays in use.
func (e *Edge) ReopenLogs() {
	if e.access == nil {
		return
	}
	if err := e.access.Reopen(); err != nil {
		e.log.Error("reopen access log", "error", err)
	}
}
