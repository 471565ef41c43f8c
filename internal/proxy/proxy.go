package proxy

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/cache/spool"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/conn/sendfile"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/lab/shadow"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/queryrules"
	"edgeproxy/internal/proxy/internal/readahead"
	"edgeproxy/internal/proxy/internal/running"
	"edgeproxy/internal/proxy/internal/varyfields"
	"edgeproxy/internal/route/client"
	"edgeproxy/internal/route/setting"
)

// Options are what a Proxy is made of. Rooms given here belong to the caller,
// who closes them after Proxy.Close.
type Options struct {
	// Node names this proxy in Via, Cache-Status and CDN-Loop.
	Node string
	// Instance is a token that no other process has, nor this one after a restart: who
	// finds it in CDN-Loop has a request that was here before.
	Instance string
	// Live are the settings to begin with; Swap puts others in their place.
	Live Live

	Store  *cache.Store
	Hasher cache.Hasher
	// Purges marks what was purged, for as long as Store lives.
	Purges *purge.Table
	Gate   *admission.Gate
	// Shadow tries other policies on a sample of the requests; nil is none.
	Shadow *shadow.Shadow

	setting.FixedLimits
	// MaxObjectBytes is the largest body that is stored.
	MaxObjectBytes int64
	// Spool takes what is beyond ResponseBuffer; nil is none.
	Spool *spool.Spool
	// WriteIdleTimeout bounds one write of a body; 0 leaves stalled clients to the listener.
	WriteIdleTimeout time.Duration
	// Sends looks after the connections that answers are sent on, and counts what they are
	// sent from; nil does not. Where WriteIdleTimeout is above 0 the pace of SendRate is kept here.
	Sends *pace.Watch
	// Copies has copies of large bodies that the system can send by itself; nil has none.
	Copies *sendfile.Copies
	// Challenge returns the response to a request for ChallengePath and this token. It returns "" for an unknown token; the
	// request is then handled as usual. Nil: there are no challenges.
	Challenge func(token []byte) string
	// PeerOf returns the address that a load balancer has sent for a connection; the zero Addr if it sent that there is none.
	// Where known is false, and with a nil PeerOf, the peer is the connection's own address. It is called for each request.
	PeerOf func(net.Conn) (peer netip.Addr, known bool)
	// Panics counts those that end a request, also in other rooms; nil is a counter of its own.
	Panics *rescue.Counter

	// NothingStored says that the disk of Store had nothing on it when it was opened, and that all of it is in use.
	NothingStored bool

	// AccessLog may be nil. Log and Metrics may not.
	AccessLog *accesslog.Log
	// Spans takes those of requests that are traced. It is not nil where Live.Sampler may not be.
	Spans   *spans.Exporter
	Log     *slog.Logger
	Metrics *Metrics
}

// Proxy serves requests, which come in by a Listener. It is safe for concurrent use.
type Proxy struct {
	Options
	identity
	counts
	learned

	settings atomic.Pointer[settings] // a request takes them once, in acquireExchange
	swapping sync.Mutex               // held by Swap

	plain, secure atomic.Bool // requests may come by http, by https
	draining      atomic.Bool
	serial        atomic.Uint64 // the serial of the last entry made
	exchanges     sync.Pool
	fills         sync.Pool
	flights       *flight.Table[cache.Key, *outcome]
	hitForMiss    *flight.Marks[cache.Key]
	budget        *flight.Budget
	slots         *clientSlots
	refreshes     *clientSlots // the slots of clients among the validations in the background
	watch         *presence.Watch
	uploads       *uploadBuffers
	tunnels       tunnels
	running       running.Table
	keepMarks     syncPacer // paces the writing of invalidations by clients
	settler       purgeSweeper
	streams       *readahead.Bodies
	closeFlight   sync.Once
	panicked      func(*flight.PanicError) // fetchPanicked, made once
}

// identity is how a Proxy names itself to others.
type identity struct {
	via        string // "1.1 NAME"
	loop       string // "NAME; id=INSTANCE"
	instance   []byte // Options.Instance
	statusName string // NAME as a structured field item
}

// counts are the numbers of what is under way, and of what has happened.
type counts struct {
	inFlight    atomic.Int64  // requests received and not yet recorded
	forwarding  atomic.Int64  // requests in flight that are not hits
	refreshing  atomic.Int64  // validations in the background
	slowUploads atomic.Int64  // uploads ended for ReceiveRate
	slowReaders atomic.Int64  // answers ended for SendRate
	purgeCount  atomic.Uint64 // values purged, and not their marks
}

// learned is what is remembered of responses and requests, beside what is stored.
type learned struct {
	queryRules   *queryrules.Table
	varyFields   *varyfields.Table
	asked        *askedRanges
	selected     selectedURLs
	unnamedSites unnamedSites
	cookies      cookieCounts // the cookies for which responses were not stored
}

// New returns a Proxy.
func New(o Options) (*Proxy, error) {
	if o.Instance == "" {
		return nil, errors.New("instance: needs a name; without it every CDN-Loop would look like our own")
	}
	first, err := newSettings(&o, o.Live, nil)
	if err != nil {
		return nil, err
	}
	if o.Panics == nil {
		o.Panics = rescue.NewCounter(o.Log)
	}
	budget := flight.NewBudget(o.InflightBytes, client.Part(o.InflightShare))
	share := client.Part(o.OriginShare)
	p := &Proxy{
		Options:   o,
		identity:  identity{via: "1.1 " + o.Node, loop: o.Node + "; id=" + o.Instance, instance: []byte(o.Instance), statusName: structuredName(o.Node)},
		learned:   learned{queryRules: queryrules.New(o.Purges.Identity().First()), varyFields: varyfields.New(), asked: &askedRanges{}},
		watch:     presence.New(o.Panics),
		slots:     newClientSlots(share),
		refreshes: newClientSlots(share),
		tunnels:   tunnels{shares: newClientSlots(share)},
		budget:    budget,
		flights: flight.NewTable[cache.Key, *outcome](flight.Options{
			Budget: budget, ObjectBytes: o.MaxObjectBytes, Ahead: o.ResponseBuffer, Spool: spoolOf(o.Spool), Now: now, Generation: o.Purges.Now,
		}),
		uploads:    newUploadBuffers(o.RequestBuffer, o.InflightBytes, client.Part(o.InflightShare)),
		hitForMiss: flight.NewMarks(now(), func(k cache.Key) uint64 { return k.Lo }),
	}
	p.serial.Store(o.Purges.Identity().First())
	stamp(o.Store, o.Purges.Identity())
	if o.Store.HasDisk() {
		p.selected.filter.Store(&urlFilter{})
		p.selected.known.Store(o.NothingStored)
	}
	p.settings.Store(first)
	o.Metrics.inForce(first.routes)
	o.Metrics.hostsInForce(first.hosts)
	p.streams = readahead.New(p.flights.Stream, now, o.Panics)
	p.exchanges.New = func() any { return newExchange() }
	p.fills.New = func() any { return &fill{} }
	p.settler.p = p
	p.panicked = p.fetchPanicked
	o.Purges.WhenCrowded(p.settler.makeRoom)
	o.Metrics.observe(p)
	return p, nil
}

// spoolOf returns what opens the files of s.
func spoolOf(s *spool.Spool) func() (flight.SpoolFile, error) {
	if s == nil {
		return nil
	}
	return func() (flight.SpoolFile, error) { return s.Open() }
}

// InFlight returns how many requests are received and not yet answered in full,
// those included whose connection the server has handed over.
func (p *Proxy) InFlight() int64 { return p.inFlight.Load() }

// SlowReaders returns how many answers were ended here for SendRate.
func (p *Proxy) SlowReaders() int64 { return p.slowReaders.Load() }

// Drain has every connection end with the answer that it is about to get.
func (p *Proxy) Drain() { p.draining.Store(true) }

// Upgraded returns how many connections speak another protocol now.
func (p *Proxy) Upgraded() int { return p.tunnels.Len() }

// EndUpgraded ends the connections that speak another protocol, waits for them, and
// returns how many there were. No other is switched after that.
func (p *Proxy) EndUpgraded() int { return p.tunnels.Close() }

// Close ends the connections that speak another protocol and the fetches that go on
// without a client, and waits for them. Call it when no other request is being served
// any more.
func (p *Proxy) Close() {
	p.EndUpgraded()
	p.streams.Close()
	p.closeFlight.Do(p.flights.Close)
	p.settler.close()
	p.watch.Close()
}

// Begin implements message.Engine. decide chooses the way of a request, for a part of them with decideOnDisk and authenticate; Begin
// and Finish take it.
func (l *Listener) Begin(r *message.Request, a *message.Answer) message.Pending {
	p := l.proxy
	x := p.acquireExchange(r, a, l.scheme)
	defer p.finish(x) // one log line, one set of counters; also after a panic
	l.receive(x)
	switch x.way = p.decide(x); x.way {
	case hit:
		if x.refresh {
			p.refreshStale(x)
		}
		if x.readsContent() {
			x.waits = true
			return x
		}
	case refused:
	case pass, miss, needsDisk, needsPassword:
		x.waits = true
		return x
	}
	p.deliver(x)
	return nil
}

// Finish implements message.Pending.
func (x *exchange) Finish() {
	p := x.p
	x.waits = false
	defer p.finish(x)
	if x.way == needsPassword {
		x.way = p.authenticate(x) // the credentials
		x.run.Enter(x.phase())
	}
	x.mayReadDisk = p.Store.HasDisk()
	if x.way == needsDisk {
		x.way = p.decideOnDisk(x) // on the disk
		x.run.Enter(x.phase())
	}
	switch x.way {
	case pass:
		p.pass(x) // the origin's answer, unstored
	case miss:
		p.collapse(x) // one leader fetches, followers read along
	case hit, refused, needsDisk, needsPassword: // the answer is there, and may have to be read
	}
	p.deliver(x)
}

// The schemes that a request can have: that of its listener, or of a trusted proxy's in
// front.
const (
	schemePlain  = "http"
	schemeSecure = "https"
)

// Listener serves what comes in at one address. It is safe for concurrent use.
type Listener struct {
	proxy   *Proxy
	scheme  string
	trusted atomic.Pointer[forwarded.Trusted] // nil: nobody
	livez   atomic.Bool
}

// LivezPath is the path that AnswerLivez is about.
const LivezPath = "/livez"

// AnswerLivez says whether GET and HEAD for LivezPath, with any query, are answered here with 200 from now on, as
// long as the process runs. Load balancers ask so by HTTP/1.0, and without Host, which is refused otherwise. They ask
// every second or so, so these requests are not counted, logged or traced.
func (l *Listener) AnswerLivez(on bool) { l.livez.Store(on) }

// asksLivez reports whether x is such a request, and in order but for its host.
func (l *Listener) asksLivez(x *exchange) bool {
	if x.req.Fault != nil || x.req.Body != nil || string(x.method) != "GET" && string(x.method) != "HEAD" {
		return false
	}
	path, _, _ := bytes.Cut(x.req.Target, []byte{'?'})
	return string(path) == LivezPath
}

// Listener returns a listener for connections that are of TLS or not. It believes what
// peers in trusted say of the client: its address, scheme and host.
func (p *Proxy) Listener(secure bool, trusted []netip.Prefix) *Listener {
	l := &Listener{proxy: p, scheme: schemePlain}
	if secure {
		l.scheme = schemeSecure
	}
	p.noteScheme(l.scheme)
	l.Trust(trusted)
	return l
}

// Trust has requests that come from now on believe peers in trusted, and no other.
func (l *Listener) Trust(trusted []netip.Prefix) {
	peers := forwarded.New(trusted)
	if peers != nil { // they may tell either scheme
		l.proxy.noteScheme(schemePlain)
		l.proxy.noteScheme(schemeSecure)
	}
	l.trusted.Store(peers)
}

// noteScheme notes that requests may have this scheme, and what is stored of them for as long
// as the Proxy lives.
func (p *Proxy) noteScheme(scheme string) {
	if scheme == schemeSecure {
		p.secure.Store(true)
	} else {
		p.plain.Store(true)
	}
}

// servesScheme reports whether requests may have this scheme.
func (p *Proxy) servesScheme(scheme string) bool {
	return scheme == schemePlain && p.plain.Load() || scheme == schemeSecure && p.secure.Load()
}
