package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
)

// Options say which certificates to order, and from whom.
type Options struct {
	Names     []string       // host names in lower case, each once, at least one
	Directory string         // https URL of the authority; we agree to its terms of service
	Email     string         // the contact address for the authority; "" is none
	Roots     *x509.CertPool // the CA certificates for the directory's own TLS; nil is the system's
	Storage   string         // the folder for account, keys and certificates

	TLSALPN, HTTP bool // the challenge types that we answer, at least one

	UserAgent string // User-Agent of requests to the authority (RFC 8555 section 6.1)
	// Retry is the delay before the second try for a name. It doubles with each failure,
	// up to an hour. 0 is a minute.
	Retry time.Duration
	Log   *slog.Logger
	Now   func() time.Time

	// Guard, if not nil, runs each step of the Manager's goroutines. It returns even if the
	// step panics; the order is then tried again.
	Guard func(step func())
}

// Manager orders, holds and renews certificates. It is safe for concurrent use.
type Manager struct {
	o       Options
	names   map[string]bool
	cache   *certmagic.Cache
	config  *certmagic.Config
	storage *storage
	issuer  *issuer

	quit     context.CancelFunc
	ctx      context.Context // context of all slow operations; ends with Close
	working  sync.WaitGroup
	closing  sync.Once
	failures atomic.Int64
}

// New returns a Manager with the stored certificates. It orders nothing before Start. It
// makes the folder if it does not exist. Its error is about the folder.
func New(o Options) (*Manager, error) {
	files, err := openStorage(o.Storage)
	if err != nil {
		return nil, err
	}
	if o.Retry <= 0 {
		o.Retry = firstRetry
	}
	m := &Manager{o: o, names: map[string]bool{}, storage: files}
	m.ctx, m.quit = context.WithCancel(context.Background())
	m.issuer = newIssuer(m.ctx, o, files)
	quiet := bridge(m.ctx, o.Log)
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:  func(certmagic.Certificate) (*certmagic.Config, error) { return m.config, nil },
		OCSPCheckInterval: never,
		Logger:            quiet,
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		Issuers: []certmagic.Issuer{m.issuer}, Storage: files, Logger: quiet, OnEvent: m.onEvent,
		KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256},
		OCSP:      certmagic.OCSPConfig{DisableStapling: true},
	})
	for _, name := range o.Names {
		m.names[name] = true
		m.load(name)
	}
	return m, nil
}

// never is longer than any process runs. OCSP stapling is off, so certmagic has nothing to
// check.
const never = 100 * 365 * 24 * time.Hour

// Start begins to order missing certificates, and to renew.
func (m *Manager) Start() {
	m.working.Go(func() { m.guarded(m.renewDue) })
	m.working.Go(m.obtainMissing)
}

// Close cancels running orders and waits for them to end. The stored certificates stay.
func (m *Manager) Close() {
	m.closing.Do(func() {
		m.quit()
		m.working.Wait()
		m.cache.Stop()
		m.storage.close()
		m.issuer.close()
	})
}

// Manages reports whether name, in lower case, is one of the names.
func (m *Manager) Manages(name string) bool { return m.names[name] }

// Certificate returns the certificate of one of the names, of several the one that expires
// last; nil if there is none yet.
func (m *Manager) Certificate(name string) *tls.Certificate {
	var last *tls.Certificate
	for _, c := range m.cache.AllMatchingCertificates(name) {
		if last == nil || c.Leaf.NotAfter.After(last.Leaf.NotAfter) {
			last = &c.Certificate
		}
	}
	return last
}

// First returns the certificate of the first name, for clients that ask for no name or an
// unknown one.
func (m *Manager) First() *tls.Certificate { return m.Certificate(m.o.Names[0]) }

// Expiry returns when the next certificate expires, the zero Time if there is none yet.
func (m *Manager) Expiry() (first time.Time) {
	for _, name := range m.o.Names {
		if c := m.Certificate(name); c != nil && (first.IsZero() || c.Leaf.NotAfter.Before(first)) {
			first = c.Leaf.NotAfter
		}
	}
	return first
}

// Ends calls f with each of the names and the time when its certificate expires, the zero
// Time if it has none yet.
func (m *Manager) Ends(f func(name string, end time.Time)) {
	for _, name := range m.o.Names {
		var end time.Time
		if c := m.Certificate(name); c != nil {
			end = c.Leaf.NotAfter
		}
		f(name, end)
	}
}

// Missing returns how many of the names have no certificate.
func (m *Manager) Missing() (n int) {
	for _, name := range m.o.Names {
		if m.Certificate(name) == nil {
			n++
		}
	}
	return n
}

// Failures returns the number of orders and renewals that failed.
func (m *Manager) Failures() int64 { return m.failures.Load() }

// load loads the stored certificate for name, if there is one.
func (m *Manager) load(name string) {
	c, err := m.config.CacheManagedCertificate(m.ctx, name)
	switch {
	case missing(err):
	case err != nil:
		m.o.Log.Error("a stored certificate cannot be used; take it away for another to be ordered", "name", name, "storage", m.o.Storage, "error", err)
	default:
		m.o.Log.Info("certificate loaded", "name", name, "expires", c.Leaf.NotAfter)
	}
}

// onEvent is certmagic's event handler. It logs and counts renewals; it never returns an
// error, since that could abort the operation.
func (m *Manager) onEvent(_ context.Context, event string, data map[string]any) error {
	if renewal, _ := data["renewal"].(bool); !renewal {
		return nil // obtain logs first orders
	}
	name := fmt.Sprint(data["identifier"])
	switch event {
	case "cert_obtained":
		m.o.Log.Info("certificate renewed", "name", name)
	case "cert_failed":
		if m.ctx.Err() == nil {
			m.o.Log.Error("a certificate was not renewed; the old one stays, and it is tried again", "name", name, "error", data["error"])
			m.failures.Add(1) // after the log line, so that the line is there when the count is seen
		}
	}
	return nil
}
