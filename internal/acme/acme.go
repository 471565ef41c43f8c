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

// Options say which certificates to get, and from whom.
type Options struct {
	Names     []string       // host names in lower case, each once, at least one
	Directory string         // of the authority, an https URL; its terms are agreed to
	Email     string         // where the authority may write to; "" is nowhere
	Roots     *x509.CertPool // that the directory is trusted by; nil is the system's
	Storage   string         // the folder for account, keys and certificates

	TLSALPN, HTTP bool // the challenges that are answered, at least one

	UserAgent string // who asks (RFC 8555 section 6.1)
	// Retry is how long a name waits after its first failure; twice that after the second,
	// and so on. 0 is a minute.
	Retry time.Duration
	Log   *slog.Logger
	Now   func() time.Time

	// Guard, if not nil, runs each step of the Manager's goroutines, and returns also where
	// that panics: what was to be got is tried again.
	Guard func(step func())
}

// Manager has the certificates. It is safe for concurrent use.
type Manager struct {
	o       Options
	names   map[string]bool
	cache   *certmagic.Cache
	config  *certmagic.Config
	storage *storage
	issuer  *issuer

	quit     context.CancelFunc
	ctx      context.Context // of everything that may take long; ends with Close
	working  sync.WaitGroup
	closing  sync.Once
	failures atomic.Int64
}

// New returns a Manager with the certificates that are stored; nothing is asked for before
// Start. It makes the folder where it is not there. Its error is about the folder.
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
		Issuers: []certmagic.Issuer{m.issuer}, Storage: files, Logger: quiet, OnEvent: m.happened,
		KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256},
		OCSP:      certmagic.OCSPConfig{DisableStapling: true},
	})
	for _, name := range o.Names {
		m.names[name] = true
		m.load(name)
	}
	return m, nil
}

// never is longer than any process lives: nothing is stapled, so nothing is to be renewed.
const never = 100 * 365 * 24 * time.Hour

// Start begins to get what is missing, and to renew.
func (m *Manager) Start() {
	m.working.Go(func() { m.guarded(m.renewDue) })
	m.working.Go(m.tend)
}

// Close gives up what is under way and waits for it. The certificates stay.
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

// Certificate returns the certificate of one of the names, nil while it has none.
func (m *Manager) Certificate(name string) *tls.Certificate {
	var last *tls.Certificate
	for _, c := range m.cache.AllMatchingCertificates(name) {
		if last == nil || c.Leaf.NotAfter.After(last.Leaf.NotAfter) {
			last = &c.Certificate
		}
	}
	return last
}

// First returns the certificate of the first name, for clients that ask for none of them.
func (m *Manager) First() *tls.Certificate { return m.Certificate(m.o.Names[0]) }

// Expiry returns when the first of the certificates expires, the zero Time while there is
// none.
func (m *Manager) Expiry() (first time.Time) {
	for _, name := range m.o.Names {
		if c := m.Certificate(name); c != nil && (first.IsZero() || c.Leaf.NotAfter.Before(first)) {
			first = c.Leaf.NotAfter
		}
	}
	return first
}

// Ends calls f with each of the names, and when its certificate expires; the zero Time while it has none.
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

// Failures returns how many times no certificate came.
func (m *Manager) Failures() int64 { return m.failures.Load() }

// load takes over what is stored for name.
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

// happened hears what becomes of orders, those of renewals too. It refuses nothing.
func (m *Manager) happened(_ context.Context, event string, data map[string]any) error {
	if renewal, _ := data["renewal"].(bool); !renewal {
		return nil // tend tells of those
	}
	name := fmt.Sprint(data["identifier"])
	switch event {
	case "cert_obtained":
		m.o.Log.Info("certificate renewed", "name", name)
	case "cert_failed":
		if m.ctx.Err() == nil {
			m.o.Log.Error("a certificate was not renewed; the old one stays, and it is tried again", "name", name, "error", data["error"])
			m.failures.Add(1) // who sees it, finds the line
		}
	}
	return nil
}
