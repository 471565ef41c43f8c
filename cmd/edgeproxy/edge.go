package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"edgeproxy/config"
	"edgeproxy/internal/accesslog"
	"edgeproxy/internal/admin"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/shadow"
)

// edge is one running proxy: its rooms, its listeners, and the order in which
// they start and stop.
type edge struct {
	config   *config.Config
	log      *slog.Logger
	started  time.Time
	registry *prometheus.Registry
	store    *cache.Store
	gate     *admission.Gate
	shadow   *shadow.Shadow // nil: no shadow policies
	origins  []*origin.Origin
	proxy    *proxy.Proxy
	access   *accesslog.Log
	servers  []*fasthttp.Server // one for each address of the configuration

	listeners []net.Listener // in their order
	control   []controlServer
	ready     atomic.Bool
	draining  atomic.Bool
	failed    chan error
	serving   sync.WaitGroup
	stopping  sync.Once
}

// controlServer is the admin or the metrics listener.
type controlServer struct {
	server   *admin.Server
	listener net.Listener
}

// newEdge builds the rooms of c; nothing listens yet.
func newEdge(c *config.Config, log *slog.Logger) (*edge, error) {
	e := &edge{config: c, log: log, started: time.Now(), registry: prometheus.NewRegistry(), failed: make(chan error, 8)}
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
	if e.store, err = cache.New(cacheOptions(e.config, e.registry)); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	hasher, err := e.buildAdmission()
	if err != nil {
		return err
	}
	if e.config.AccessLog.Path != "" {
		if e.access, err = accesslog.Open(e.config.AccessLog.Path, accesslog.Options{OnError: e.accessLogFailed}); err != nil {
			return fmt.Errorf("access log: %w", err)
		}
	}
	routes, err := e.routes()
	if err != nil {
		return err
	}
	if e.proxy, err = proxy.New(e.proxyOptions(hasher, routes)); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	for _, l := range e.config.Listen {
		e.servers = append(e.servers, newServer(e.config, e.proxy.Listener(l.TrustedProxies), e.log))
	}
	e.watchConnections()
	return nil
}

// watchConnections shows what only the servers know.
func (e *edge) watchConnections() {
	e.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_connections", Help: "Client connections.", ConstLabels: prometheus.Labels{"state": "open"},
		}, func() float64 {
			return e.sum(func(s *fasthttp.Server) float64 { return float64(s.GetOpenConnectionsCount()) })
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: proxy.LimitRejections, Help: proxy.LimitRejectionsHelp, ConstLabels: prometheus.Labels{"limit": "connections"},
		}, func() float64 {
			return e.sum(func(s *fasthttp.Server) float64 { return float64(s.GetRejectedConnectionsCount()) })
		}),
	)
}

// sum adds up what of says of each server.
func (e *edge) sum(of func(*fasthttp.Server) float64) float64 {
	total := 0.0
	for _, s := range e.servers {
		total += of(s)
	}
	return total
}

// listen opens every address, the data addresses last: who reaches them finds
// everything else in place.
func (e *edge) listen() error {
	control, err := admin.New(admin.Options{
		Address: e.config.Admin.Address, Registry: e.registry, Ready: e.readiness, Status: e.status,
		Purger: e.proxy, Log: e.log,
	})
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	if err := e.listenControl(control, e.config.Admin.Address, "admin"); err != nil {
		return err
	}
	if address := e.config.Metrics.Address; address != "" {
		server, err := admin.NewMetrics(admin.MetricsOptions{Registry: e.registry, Ready: e.readiness, Log: e.log})
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		if err := e.listenControl(server, address, "metrics"); err != nil {
			return err
		}
	}
	for _, l := range e.config.Listen {
		ln, err := listenTCP(context.Background(), l.Address, e.config.Limits.WriteIdle)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		e.listeners = append(e.listeners, newPatientListener(ln, e.log))
	}
	return nil
}

func (e *edge) listenControl(s *admin.Server, address, what string) error {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	e.control = append(e.control, controlServer{s, ln})
	return nil
}

// start serves. A listener that fails reports on e.failed.
func (e *edge) start() {
	for _, c := range e.control {
		e.serving.Go(func() { e.report(c.server.Serve(c.listener)) })
	}
	for i, ln := range e.listeners {
		e.serving.Go(func() { e.report(e.servers[i].Serve(ln)) })
	}
	e.gate.StartSaving() // not before: a start that fails leaves the file as it is
	e.ready.Store(true)
}

func (e *edge) report(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		select {
		case e.failed <- err:
		default:
		}
	}
}

// stop ends everything, outermost first: readiness, listeners and requests,
// fetches without a client, then the rooms they used. It keeps to the limits of
// shutdown, may be called at any time, and works once.
func (e *edge) stop(ctx context.Context) { e.stopping.Do(func() { e.shutdown(ctx) }) }

func (e *edge) shutdown(ctx context.Context) {
	e.draining.Store(true)
	if e.ready.Swap(false) {
		wait(ctx, e.config.Shutdown.DrainDelay)
	}
	drained := e.drainRequests(ctx)
	if e.proxy != nil {
		e.proxy.Close()
	}
	for _, o := range e.origins {
		o.Close()
	}
	if e.gate != nil {
		e.gate.Close()
	}
	if e.store != nil && drained {
		e.store.Close() // a look-up must not meet it
	}
	if e.access != nil {
		if err := e.access.Close(); err != nil {
			e.log.Warn("access log", "error", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, c := range e.control {
		_ = c.server.Close(ctx)
		_ = c.listener.Close()
	}
	e.serving.Wait()
}

// drainRequests lets requests under way finish within drain_timeout and reports
// whether all did.
func (e *edge) drainRequests(ctx context.Context) bool {
	if len(e.servers) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, e.config.Shutdown.DrainTimeout)
	defer cancel()
	err := e.shutServers(ctx)
	for _, ln := range e.listeners {
		_ = ln.Close() // also those that never served
	}
	if err != nil {
		e.log.Warn("requests were cut off", "error", err, "requests", e.proxy.InFlight())
		return false
	}
	return e.awaitHandedOver(ctx)
}

// shutServers shuts the servers down, side by side.
func (e *edge) shutServers(ctx context.Context) error {
	errs := make([]error, len(e.servers))
	var all sync.WaitGroup
	for i, s := range e.servers {
		all.Go(func() {
			if err := s.ShutdownWithContext(ctx); !errors.Is(err, net.ErrClosed) {
				errs[i] = err
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// awaitHandedOver waits for answers on connections that the server has handed
// over and does not count: those of HTTP/1.0 that end with the connection.
func (e *edge) awaitHandedOver(ctx context.Context) bool {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for e.proxy.InFlight() > 0 {
		select {
		case <-poll.C:
		case <-ctx.Done():
			e.log.Warn("requests were cut off", "error", ctx.Err(), "requests", e.proxy.InFlight())
			return false
		}
	}
	return true
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (e *edge) readiness() (ready bool, why string) {
	if e.ready.Load() {
		return true, ""
	}
	if e.draining.Load() {
		return false, "draining"
	}
	return false, "starting"
}

func (e *edge) addresses() []string {
	var out []string
	for _, ln := range e.listeners {
		out = append(out, ln.Addr().String())
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

func (e *edge) reopenLogs(log *slog.Logger) {
	if e.access == nil {
		return
	}
	if err := e.access.Reopen(); err != nil {
		log.Error("reopen access log", "error", err)
	}
}
