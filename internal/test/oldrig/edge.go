package edgetest

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/cache/spool"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/conn/sendfile"
	"edgeproxy/internal/front/http1"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/proxy/compress"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/setting"
)

// hashSeed is that of the keys of every edge that has none yet.
const hashSeed = 1

// Node is the name of an edge that is given none, in Via and Cache-Status.
const Node = "edge"

// Options say what differs from the defaults of the configuration. A zero value
// is the default, but for UncacheableFor, where zero is none.
type Options struct {
	// Listener is where clients come in; Start closes it at the end of the test.
	// Nil is a free port of the loopback address.
	Listener net.Listener
	// Origin holds the address, connections and times of the one origin.
	Origin origin.Options
	// CloseAfterPost ends each connection to it after a POST with a body.
	CloseAfterPost bool
	// Route is the name of the last route, which takes all requests; default if empty. Routes stand
	// before it; see OtherRoute.
	Route  string
	Routes []OtherRoute
	// Rule is its admission; the zero Rule is always.
	Rule admission.Rule
	// Window is that of both filters.
	Window admission.FilterOptions

	MaxBytes, MaxObjectBytes, InflightBytes          int64
	StageBytes                                       int64 // of MaxBytes
	SliceBytes                                       int64 // of a slice; 0 is none
	Compress                                         *compress.Rules
	WarmUpBelow                                      float64 // share of the memory tier below which the gate is open
	Variants, Ranges, RequestsInFlight               int
	RangeAmplification                               int64 // below 0 is any number
	Tunnels                                          int
	CollapseWait                                     time.Duration
	Caching                                          rfc9111.Options
	Key                                              cachekey.Options
	PurgeFrom, TrustedProxies                        []netip.Prefix
	PurgeToken                                       string
	TagFields                                        []string       // nil is those of the configuration
	CacheStatusTrusted                               []netip.Prefix // the others are told in brief; nil is all
	HonorRequest                                     bool
	Bypass                                           setting.Bypass
	UncacheableFor                                   time.Duration
	WriteIdleTimeout, ReadIdleTimeout, HeaderTimeout time.Duration // a WriteIdleTimeout below 0 is none
	UpgradeIdleTimeout                               time.Duration
	ReceiveRate, SendRate                            pace.Rate
	PinnedBytes                                      int64 // the limit; 0 is none
	RequestBuffer                                    int64 // below 0 is none
	ResponseBuffer                                   int64
	Spool                                            *spool.Spool
	HostHeader                                       string
	AllowAmbiguousPath                               bool
	NoVarySearch, StorePosts                         bool
	IgnoreNoStore, NoUpgrades                        bool
	Invalidate                                       setting.Invalidation
	Rate                                             rate.Limit
	ClientShare, InflightShare                       float64
	AnyLanguageOrder, UnusualNames                   bool
	SendTags, Livez                                  bool
	StripCookies, KeepCookies                        cachekey.CookieNames
	Request, Response                                FieldRules

	// State is the file that keeps the sightings; "" keeps none.
	State string

	// PurgeMarks is the room for marks of purges, and PurgeDir the directory that keeps them with the
	// seed of the keys; "" keeps neither.
	PurgeMarks purge.Options
	PurgeDir   string

	// PeerOf knows addresses that stand for those of connections; nil knows none.
	PeerOf func(net.Conn) (netip.Addr, bool)
	// Challenge answers authorities; nil answers none.
	Challenge func(token []byte) string

	// Node is the edge's name, the constant if empty, and Instance its own; "instance" if
	// empty.
	Node, Instance string

	// Disk has the edge keep what it stores on a disk (internal/cache/disk). It is for all edges where EDGEPROXY_TEST_DISK is
	// 1. DiskPath is a directory that outlives the edge; "" is one for this edge alone. MaxDiskObjectBytes is the longest
	// content that the disk takes; 0 is MaxObjectBytes.
	Disk               bool
	DiskPath           string
	MaxDiskObjectBytes int64

	// Sampler says which requests are traced, into Spans, which the test closes; nil is none.
	Sampler *spans.Sampler
	Spans   *spans.Exporter

	// AccessLog gets a line of each request, in LogFormat; nil is none. The test closes it, behind the edge.
	AccessLog *accesslog.Log
	LogFormat *accesslog.Format

	// Log gets the edge's log; nil drops it.
	Log io.Writer
}

func (o *Options) setDefaults(tb testing.TB) {
	tb.Helper()
	o.MaxBytes = cmp.Or(o.MaxBytes, 4<<20)
	o.MaxObjectBytes = cmp.Or(o.MaxObjectBytes, (o.MaxBytes-o.StageBytes)/4)
	o.InflightBytes = cmp.Or(o.InflightBytes, 64<<20)
	o.Variants = cmp.Or(o.Variants, 32)
	o.Ranges = cmp.Or(o.Ranges, 16)
	o.RangeAmplification = cmp.Or(o.RangeAmplification, 16)
	o.RequestsInFlight = cmp.Or(o.RequestsInFlight, 10000)
	o.Tunnels = cmp.Or(o.Tunnels, 1024)
	o.CollapseWait = cmp.Or(o.CollapseWait, 5*time.Second)
	o.WriteIdleTimeout = cmp.Or(o.WriteIdleTimeout, 30*time.Second)
	o.ReadIdleTimeout = cmp.Or(o.ReadIdleTimeout, 30*time.Second)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 10*time.Second)
	o.UpgradeIdleTimeout = cmp.Or(o.UpgradeIdleTimeout, time.Hour)
	o.ReceiveRate = cmp.Or(o.ReceiveRate, pace.Rate{Bytes: 1 << 10, Over: time.Minute})
	o.RequestBuffer = cmp.Or(o.RequestBuffer, 64<<10)
	o.ResponseBuffer = cmp.Or(o.ResponseBuffer, 1<<20)
	o.InflightShare = cmp.Or(o.InflightShare, 0.125)
	stale, heuristic := &o.Caching.Stale, &o.Caching.Heuristic
	stale.OriginFailure = cmp.Or(stale.OriginFailure, time.Hour)
	stale.Keep = cmp.Or(stale.Keep, time.Hour)
	heuristic.Fraction = cmp.Or(heuristic.Fraction, 0.1)
	heuristic.MaxTTL = cmp.Or(heuristic.MaxTTL, 24*time.Hour)
	if !o.Caching.BoundErrors {
		o.Caching.BoundErrors, o.Caching.ErrorMaxTTL = true, 10*time.Second
	}
	w := &o.Window
	w.Generations = cmp.Or(w.Generations, 2)
	w.Capacity = cmp.Or(w.Capacity, 10000)
	w.FalsePositiveRate = cmp.Or(w.FalsePositiveRate, 0.0001)
	w.RotateEvery = cmp.Or(w.RotateEvery, 30*time.Minute)
	o.Origin.Name = cmp.Or(o.Origin.Name, "app")
	o.MaxDiskObjectBytes = cmp.Or(o.MaxDiskObjectBytes, o.MaxObjectBytes)
	o.Disk = o.Disk || o.DiskPath != "" || os.Getenv("EDGEPROXY_TEST_DISK") == "1"
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		o.Listener = l
	}
}

// OtherRoute is a route that differs from the one for all requests in what Change does to it. Where
// there are others, the origin gets the name of the route in X-Route, and rest from the one for all.
type OtherRoute struct {
	Name   string
	Change []func(*proxy.Route)
}

// FieldRules are rules for fields, as a route has them.
type FieldRules struct {
	Remove, Only []string
	Set          map[string]string
}

// Edge is a running edge. Its fields are for reading, but for tests that break it.
type Edge struct {
	Address  string // of the listener
	Proxy    *proxy.Proxy
	Store    *cache.Store
	Registry *prometheus.Registry
	Live     proxy.Live // that it goes by, for Proxy.Swap

	purges  *purge.Table // e.Proxy.Purges, unless a test breaks that
	disk    *disk.Store  // nil: there is none
	sends   *pace.Watch
	copies  *sendfile.Copies
	gate    *admission.Gate
	origin  *origin.Origin
	retired []*origin.Origin
	options Options // with the defaults
	server  *http1.Server
	serving sync.WaitGroup
}

// Start runs an edge until the end of the test. What cannot be built fails the
// test at once.
func Start(tb testing.TB, o Options) *Edge {
	tb.Helper()
	o.setDefaults(tb)
	e := &Edge{Address: o.Listener.Addr().String(), Registry: prometheus.NewRegistry()}
	var seed uint64
	e.purges, seed = o.purges(tb)
	hasher, err := cache.NewHasher(seed)
	must(tb, err)
	total := pinned.NewTotal(cmp.Or(o.PinnedBytes, 1<<40))
	e.sends = pace.New(pace.Options{Send: o.SendRate, Pinned: total, Log: slog.New(slog.DiscardHandler)})
	e.copies = sendfile.New(sendfile.Options{MaxBytes: o.MaxBytes / 4, Log: slog.New(slog.DiscardHandler)})
	e.openDisk(tb, &o)
	e.Store, err = cache.New(cache.Options{
		Disk: e.tier(), MaxDiskObjectBytes: o.MaxDiskObjectBytes,
		MaxBytes: o.MaxBytes, MaxObjectBytes: o.MaxObjectBytes, MaxVariants: o.Variants, StageBytes: o.StageBytes,
		Pinned: total, Metrics: cache.NewMetrics(e.Registry),
	})
	must(tb, err)
	gate := admission.Options{SecondHit: &o.Window, Counting: &o.Window}
	if o.WarmUpBelow > 0 {
		gate.WarmingUp = func() bool { return e.Store.Fill() < o.WarmUpBelow }
	}
	if o.State != "" {
		gate.State = &admission.StateOptions{Path: o.State, Seed: seed}
		if _, err := os.Stat(o.State); err == nil {
			gate.Restore, err = admission.LoadState(o.State, now())
			must(tb, err)
		}
	}
	e.gate, err = admission.New(gate, now())
	must(tb, err)
	e.gate.StartSaving()
	o.Origin.ClientShare, o.Origin.ReuseAfterPost = o.ClientShare, !o.CloseAfterPost
	o.Origin.Metrics = origin.NewMetrics(e.Registry)
	o.Origin.Panics = rescue.NewCounter(slog.New(slog.NewTextHandler(o.Log, nil)))
	e.origin, err = origin.New(o.Origin)
	must(tb, err)
	e.options = o
	e.Live, err = o.live(e.origin)
	must(tb, err)
	e.Proxy, err = proxy.New(o.proxyOptions(e, hasher))
	must(tb, err)
	listener := e.Proxy.Listener(false, o.TrustedProxies)
	listener.AnswerLivez(o.Livez)
	e.server = e.newServer(listener, &o)
	e.serving.Go(func() { _ = e.server.Serve(o.Listener) })
	tb.Cleanup(e.stop)
	return e
}

// purges returns the marks of purges and the seed of the keys: both are kept, or neither is.
func (o *Options) purges(tb testing.TB) (t *purge.Table, seed uint64) {
	tb.Helper()
	if o.PurgeDir == "" {
		return purge.New(o.PurgeMarks), hashSeed
	}
	t, err := purge.Open(purge.Place{Dir: o.PurgeDir, KeySeed: hashSeed, Log: slog.New(slog.NewTextHandler(o.Log, nil))}, o.PurgeMarks)
	must(tb, err)
	return t, t.Identity().KeySeed
}

func (o *Options) proxyOptions(e *Edge, hasher cache.Hasher) proxy.Options {
	return proxy.Options{
		Node: cmp.Or(o.Node, Node), Instance: cmp.Or(o.Instance, "instance"), Store: e.Store, Hasher: hasher, Purges: e.purges, Gate: e.gate,
		Live: e.Live, MaxObjectBytes: o.MaxObjectBytes, InflightBytes: o.InflightBytes, ClientShare: o.ClientShare, WriteIdleTimeout: max(o.WriteIdleTimeout, 0),
		Sends: e.sends, Copies: e.copies, SendRate: o.SendRate, RequestBuffer: max(o.RequestBuffer, 0),
		ResponseBuffer: o.ResponseBuffer, InflightShare: o.InflightShare, Spool: o.Spool,
		NothingStored: e.disk != nil && e.disk.Complete() && e.disk.Stats().Segments == 0,
		PeerOf:        o.PeerOf, Challenge: o.Challenge, Spans: o.Spans, AccessLog: o.AccessLog,
		Panics: o.Origin.Panics,
		Log:    slog.New(slog.NewTextHandler(o.Log, nil)), Metrics: proxy.NewMetrics(e.Registry, proxy.MetricsOptions{RouteLabel: true}),
	}
}

// newServer is the data server of the command, limits included.
func (e *Edge) newServer(l *proxy.Listener, o *Options) *http1.Server {
	return http1.New(http1.Options{
		Engine: l, HeaderBytes: 16 << 10, HeaderTimeout: o.HeaderTimeout, KeepaliveTimeout: time.Minute, WriteIdleTimeout: max(o.WriteIdleTimeout, 0),
		State: e.connectionIs, Panics: o.Origin.Panics, Log: slog.New(slog.DiscardHandler),
	})
}

func (e *Edge) connectionIs(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		e.sends.Enter(c)
	case http.StateClosed, http.StateHijacked:
		e.sends.Leave(c)
	case http.StateActive, http.StateIdle:
	}
}

// CopiesBytes returns what the copies of large bodies take that are sent by sendfile.
func (e *Edge) CopiesBytes() int64 { return e.copies.Bytes() }

// stop ends the edge in the order in which the command does.
func (e *Edge) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	drained := e.server.Shutdown(ctx) == nil
	e.Proxy.Close()
	_ = e.purges.Close() // a test that minds asks by Keep
	e.sends.Close()
	e.copies.Close()
	for _, o := range append(e.retired, e.origin) {
		o.Close()
	}
	e.gate.Close()
	if drained {
		e.Store.Close() // a look-up must not meet it
	}
	if e.disk != nil {
		e.disk.Close()
	}
	_ = e.options.Listener.Close() // a server that has not begun to accept does not know it yet
	e.serving.Wait()
}

// Metric returns the value of the metric called name whose labels are exactly
// these, each as name=value; 0 where there is none.
func (e *Edge) Metric(tb testing.TB, name string, labels ...string) float64 {
	tb.Helper()
	families, err := e.Registry.Gather()
	must(tb, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			have := map[string]bool{}
			for _, l := range m.GetLabel() {
				have[l.GetName()+"="+l.GetValue()] = true
			}
			if same(have, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

func same(have map[string]bool, labels []string) bool {
	for _, l := range labels {
		if !have[l] {
			return false
		}
	}
	return len(have) == len(labels)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// now reads the clock, which in a bubble is a virtual one.
func now() time.Time { return time.Now() } //nolint:forbidigo // the rig stands where the command does
