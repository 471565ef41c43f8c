package main

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
	"edgeproxy/internal/accesslog"
	"edgeproxy/internal/acme"
	"edgeproxy/internal/admin"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/dial"
	"edgeproxy/internal/listen"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/pace"
	"edgeproxy/internal/pinned"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/rescue"
	"edgeproxy/internal/sendfile"
	"edgeproxy/internal/shadow"
	"edgeproxy/internal/spans"
	"edgeproxy/internal/spool"
	"edgeproxy/internal/supervisor"
)

// edge is one running proxy: its rooms, its listeners, and the order in which
// they start and stop.
type edge struct {
	config     *config.Config
	log        *slog.Logger
	panics     *rescue.Counter
	started    time.Time
	registry   *prometheus.Registry
	store      *cache.Store
	disk       *disk.Group            // nil: no disk tier
	supervisor *supervisor.Supervisor // nil: nobody wants to hear
	purges     *purge.Table
	gate       *admission.Gate
	shadow     *shadow.Shadow // nil: no shadow policies
	dialer     *dial.Dialer
	calls      *origin.Metrics // of all origins
	now        atomic.Pointer[live]
	retired    []*origin.Origin // that requests may still have; the reloader's, and the end's
	reloader   *reloader        // nil: nothing reloads
	level      *slog.LevelVar   // of log; nil: it stays
	proxy      *proxy.Proxy
	access     *accesslog.Log
	spans      *spans.Exporter
	listeners  []*dataListener // one for each address of the configuration
	acme       *acme.Manager   // nil: no certificates by ACME
	spool      *spool.Spool    // nil: no limits.spool

	diskFailure error // why there is no disk tier though there should be one

	inherited   *listen.Inherited
	peers       *listen.Peers // nil: no listener speaks the PROXY protocol
	limiter     *listen.ConnLimiter
	sends       *pace.Watch
	pinned      *pinned.Total
	copies      *sendfile.Copies
	slowStreams atomic.Int64 // of HTTP/2, ended for limits.send_rate
	connections atomic.Int64 // of clients, open and not handed over
	streams     atomic.Int64 // requests of HTTP/2 under way
	refused     atomic.Int64 // of these, for there were too many
	limits      []limitCounter
	recent      *recentCounts // nil: it has not started
	admin       *admin.Server
	control     []controlServer
	ready       atomic.Bool
	draining    atomic.Bool
	failed      chan error
	serving     sync.WaitGroup
	stopping    sync.Once
}

// controlServer is the admin or the metrics listener.
type controlServer struct {
	server   *admin.Server
	listener net.Listener
}

// newEdge builds the rooms of c; nothing listens yet.
func newEdge(c *config.Config, log *slog.Logger) (*edge, error) {
	e := &edge{config: c, log: log, panics: rescue.NewCounter(log), started: time.Now(), registry: prometheus.NewRegistry(), failed: make(chan error, 8)}
	if err := e.build(); err != nil {
		e.stop(context.Background())
		return nil, err
	}
	return e, nil
}

func (e *edge) build() error {
	if err := admin.RegisterRuntime(e.registry, versionName()); err != nil {
		return fmt.Errorf("register runtime metrics: %w", err)
	}
	var err error
	e.pinned = pinned.NewTotal(int64(e.config.Pinned()))
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
	e.dialer, e.calls = dial.New(dial.Options{Panics: e.panics}), origin.NewMetrics(e.registry)
	first, err := e.buildLive(e.config, &live{})
	if err != nil {
		return err
	}
	e.now.Store(first)
	e.nameOrigins()
	if err := e.buildACME(); err != nil {
		return err
	}
	if e.spool, err = newSpool(e.config); err != nil {
		return fmt.Errorf("limits.spool: %w", err)
	}
	if e.proxy, err = proxy.New(e.proxyOptions(hasher, first.routes)); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	e.buildListeners()
	return nil
}

// buildStore makes what keeps responses, and what decides which.
func (e *edge) buildStore() (cache.Hasher, error) {
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

// buildListeners builds what stands at the data addresses.
func (e *edge) buildListeners() {
	limits := &e.config.Limits
	e.limiter = listen.NewConnLimiter(listen.ConnLimits{Connections: limits.Connections, PerClient: limits.PerAddress}, e.peers)
	for _, l := range e.config.Listen {
		e.addListener(l)
	}
	e.registerConnectionMetrics()
}

// registerConnectionMetrics shows what only the servers know.
func (e *edge) registerConnectionMetrics() {
	e.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "open"},
		}, func() float64 { return float64(e.connections.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "idle"},
		}, func() float64 { return float64(e.limiter.Waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "upgraded"},
		}, func() float64 { return float64(e.proxy.Upgraded()) }),
		e.rejections("connections", e.refusedConnections),
	)
	e.registerLetGoMetrics()
	if e.config.Limits.PerAddress > 0 {
		e.registry.MustRegister(e.rejections("connections_per_address", func() int64 {
			_, ofOne := e.limiter.Refused()
			return ofOne
		}))
	}
}

// refusedConnections returns how many connections were refused because of
// limits.connections, and how many requests of HTTP/2: the limit holds for both.
func (e *edge) refusedConnections() int64 {
	n, _ := e.limiter.Refused()
	n += e.refused.Load() + e.peers.Refused()
	for _, d := range e.listeners {
		n += int64(d.server.Rejected())
	}
	return n
}

// listen opens every address, the data addresses last: when clients can connect,
// everything else is in place.
func (e *edge) listen() (err error) {
	if e.inherited, err = listen.Inherit(); err != nil {
		return err
	}
	if e.admin, err = admin.New(e.adminOptions(e.now.Load())); err != nil {
		return fmt.Errorf("admin: %w", err)
	}
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
		if err := d.open(e); err != nil {
			return err
		}
	}
	return e.inherited.Unused()
}

// open opens an address, or takes it over.
func (e *edge) open(l config.Listen, limiter *listen.ConnLimiter) (net.Listener, error) {
	o := listen.Options{
		Address: l.Address, Mode: l.SocketMode, WriteIdle: e.config.Limits.WriteIdle,
		Inherited: e.inherited, Limiter: limiter, Mute: l.TLS, Panics: e.panics, Log: e.log,
	}
	if l.ProxyProtocol {
		o.Peers, o.HeaderTimeout, o.MaxWaiting = e.peers, e.config.Limits.HeaderTimeout, e.config.Limits.Connections
	}
	return listen.Open(context.Background(), o)
}

func (e *edge) listenControl(s *admin.Server, l config.Listen, what string) error {
	ln, err := e.open(l, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	e.control = append(e.control, controlServer{s, ln})
	return nil
}

// start serves. A listener that fails reports on e.failed.
func (e *edge) start() {
	e.recent = newRecentCounts(e.snapshot, e.panics.Quietly)
	for _, c := range e.control {
		e.serving.Go(func() { e.report(c.server.Serve(c.listener)) })
	}
	for _, d := range e.listeners {
		d.serve(e)
	}
	if e.acme != nil {
		e.acme.Start() // not before: the authority comes to see
	}
	e.reloader.start()
	e.gate.StartSaving() // not before: a start that fails leaves the file as it is
	e.ready.Store(true)
}

func (e *edge) report(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		select {
		case e.failed <- err:
		default:
		}
	}
}

func (e *edge) readiness() (ready bool, why string) {
	if e.ready.Load() {
		return true, e.diskTrouble()
	}
	if e.draining.Load() {
		return false, "draining"
	}
	return false, "starting"
}

func (e *edge) addresses() []string {
	var out []string
	for _, d := range e.listeners {
		if d.listener != nil {
			out = append(out, d.listener.Addr().String())
		}
	}
	return out
}

func (e *edge) adminAddress() string {
	if len(e.control) == 0 {
		return ""
	}
	return e.control[0].listener.Addr().String()
}

func (e *edge) accessLogFailed(err error) { e.log.Error("access log", "error", err) }

func (e *edge) reopenLogs() {
	if e.access == nil {
		return
	}
	if err := e.access.Reopen(); err != nil {
		e.log.Error("reopen access log", "error", err)
	}
}
