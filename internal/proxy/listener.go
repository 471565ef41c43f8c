package proxy

import (
	"bytes"
	"net/netip"
	"sync/atomic"

	"edgeproxy/internal/http/forwarded"
)

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
	if !l.livez.Load() || x.req.Fault != nil || x.req.Body != nil || string(x.method) != "GET" && string(x.method) != "HEAD" {
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
