package acme

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// rig is a manager, its folder, and listeners that answer challenges.
type rig struct {
	t         *testing.T
	http, tls string // addresses
	directory string
	o         Options
	log       *testkit.Buffer

	mu sync.RWMutex
	m  *Manager
}

func newRig(t *testing.T, names ...string) *rig {
	t.Helper()
	r := &rig{t: t, log: &testkit.Buffer{}, directory: testkit.QuietAddress(t)}
	r.o = Options{
		Names: names, Directory: "https://" + r.directory + "/dir", Storage: filepath.Join(t.TempDir(), "a", "b"), Email: "admin@example.com",
		TLSALPN: true, HTTP: true, UserAgent: "edgeproxy/test", Retry: 10 * time.Millisecond, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if m := r.manager(); m != nil {
			_, _ = io.WriteString(w, m.Answer([]byte(path.Base(q.URL.Path))))
		}
	}))
	_ = plain.Listener.Close()
	plain.Listener = listen(t)
	plain.Start()
	t.Cleanup(plain.Close)
	r.http = plain.Listener.Addr().String()
	ln := listen(t)
	r.tls = ln.Addr().String()
	go r.serveChallenges(ln)
	return r
}

func (r *rig) manager() *Manager {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.m
}

// serveChallenges answers handshakes of challenges, one after the other, and no others.
func (r *rig) serveChallenges(ln net.Listener) {
	config := &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if m := r.manager(); m != nil {
			if c := m.Challenge(hello); c != nil {
				return &tls.Config{Certificates: []tls.Certificate{*c}, NextProtos: []string{Protocol}}, nil
			}
		}
		return nil, net.ErrClosed
	}}
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		_ = tls.Server(c, config).HandshakeContext(r.t.Context())
		_ = c.Close()
	}
}

// open starts a manager; the last one must have been closed.
func (r *rig) open() *Manager {
	r.t.Helper()
	m, err := New(r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(m.Close)
	r.mu.Lock()
	r.m = m
	r.mu.Unlock()
	return m
}

// pebble starts the authority of r.
func (r *rig) pebble(validity time.Duration) *testkit.Pebble {
	r.t.Helper()
	p := testkit.StartPebble(r.t, testkit.PebbleOptions{Address: r.directory, HTTP: r.http, TLS: r.tls, Validity: validity})
	r.trust(p)
	return p
}

func (r *rig) trust(p *testkit.Pebble) {
	r.t.Helper()
	roots, err := os.ReadFile(p.CA)
	if err != nil {
		r.t.Fatal(err)
	}
	r.o.Roots = pool(r.t, roots)
}

func (r *rig) has(m *Manager, name string) *tls.Certificate {
	r.t.Helper()
	if !testkit.ComesTrue(func() bool { return m.Certificate(name) != nil }) {
		r.t.Fatalf("no certificate for %s; the log:\n%s", name, r.log)
	}
	return m.Certificate(name)
}

func TestCertificatesAreObtainedStoredAndLoaded(t *testing.T) {
	for _, solved := range []struct {
		name      string
		alpn, web bool
	}{{"tls-alpn-01", true, false}, {"http-01", false, true}, {"either", true, true}} {
		t.Run(solved.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "a.example", "b.example")
			r.o.TLSALPN, r.o.HTTP = solved.alpn, solved.web
			p := r.pebble(0)
			m := r.open()
			if m.Missing() != 2 || !m.Expiry().IsZero() || m.First() != nil {
				t.Errorf("before the start: got %d missing, expiry %v, first %v", m.Missing(), m.Expiry(), m.First())
			}
			m.Start()
			a, b := r.has(m, "a.example"), r.has(m, "b.example")
			if a.Leaf.VerifyHostname("a.example") != nil || b.Leaf.VerifyHostname("b.example") != nil || m.First() != m.Certificate("a.example") && m.First().Leaf.SerialNumber.Cmp(a.Leaf.SerialNumber) != 0 {
				t.Errorf("got certificates for %v and %v", a.Leaf.DNSNames, b.Leaf.DNSNames)
			}
			if left := time.Until(m.Expiry()); left < 89*24*time.Hour || left > 91*24*time.Hour || m.Missing() != 0 {
				t.Errorf("got %v left, %d missing", left, m.Missing())
			}
			m.Close()
			if m.Certificate("a.example") == nil {
				t.Error("after Close: the certificate has gone")
			}
			wantPrivate(t, r.o.Storage)

			p.Stop() // the stored ones are there without anybody being asked
			again := r.open()
			if c := again.Certificate("a.example"); c == nil || c.Leaf.SerialNumber.Cmp(a.Leaf.SerialNumber) != 0 {
				t.Errorf("after a restart: got %v, want the same certificate", c)
			}
			again.Start()
			again.Close()
			if again.Failures() != 0 || again.Missing() != 0 {
				t.Errorf("after a restart: got %d failures, %d missing", again.Failures(), again.Missing())
			}
		})
	}
}

// wantPrivate checks that only the owner may read the stored files.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got mode %o, want nothing for others", path, info.Mode().Perm())
		}
		files++
		return err
	})
	if err != nil || files < 6 {
		t.Errorf("got %d files, %v", files, err)
	}
}

func TestADirectoryThatIsDownIsTriedAgain(t *testing.T) {
	testkit.Slow(t, "it starts pebble, behind tries without it")
	t.Parallel()
	r := newRig(t, "a.example")
	r.o.Roots = testkit.NewAuthority(t).Pool() // nobody is there yet who could be trusted
	m := r.open()
	m.Start()
	testkit.Eventually(t, "two tries have failed", func() bool { return m.Failures() >= 2 })
	if log := r.log.String(); !strings.Contains(log, "no certificate was obtained") || !strings.Contains(log, "retry_in=10ms") || !strings.Contains(log, "retry_in=20ms") {
		t.Errorf("got the log:\n%s\nwant it to tell of both", log)
	}
	m.Close()
	r.pebble(0)
	m = r.open()
	m.Start()
	r.has(m, "a.example")
}

// TestWhatFailsIsTriedAgainWhileOthersSucceed has a name whose challenge nobody answers at
// first.
func TestWhatFailsIsTriedAgainWhileOthersSucceed(t *testing.T) {
	t.Parallel()
	r := newRig(t, "c.example", "a.example")
	r.pebble(0)
	r.o.TLSALPN = false
	m := r.open()
	hold := r.m
	r.mu.Lock()
	r.m = nil // nobody answers
	r.mu.Unlock()
	m.Start()
	testkit.Eventually(t, "a try has failed", func() bool { return m.Failures() >= 1 })
	r.mu.Lock()
	r.m = hold
	r.mu.Unlock()
	r.has(m, "a.example")
	r.has(m, "c.example")
	if !strings.Contains(r.log.String(), "urn:ietf:params:acme:error:") {
		t.Errorf("got the log:\n%s\nwant what the authority said", r.log)
	}
}

// TestWhatHasComeDueIsRenewed: a certificate that ends within the hour is renewed at the
// start, and shown meanwhile.
func TestWhatHasComeDueIsRenewed(t *testing.T) {
	t.Parallel()
	name := dueName()
	r := newRig(t, name)
	p := r.pebble(30 * time.Minute)
	m := r.open()
	m.Start()
	first := r.has(m, name)
	m.Close()

	m = r.open()
	if c := m.Certificate(name); c == nil || c.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) != 0 {
		t.Errorf("before the renewal: got %v, want the old one", c)
	}
	m.Start()
	testkit.Eventually(t, "it is another one", func() bool {
		return m.Certificate(name).Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) != 0
	})
	m.Close()
	if log := r.log.String(); !strings.Contains(log, "certificate renewed") {
		t.Errorf("got the log:\n%s", log)
	}

	p.Stop()
	m = r.open()
	m.Start()
	testkit.Eventually(t, "a renewal has failed", func() bool { return m.Failures() > 0 })
	if m.Certificate(name) == nil || !strings.Contains(r.log.String(), "was not renewed; the old one stays") {
		t.Errorf("got %v and the log:\n%s", m.Certificate(name), r.log)
	}
}

// TestAnAccountThatTheAuthorityForgotIsMadeAnew: private authorities are set up anew.
func TestAnAccountThatTheAuthorityForgotIsMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a.example")
	p := r.pebble(0)
	m := r.open()
	m.Start()
	r.has(m, "a.example")
	m.Close()
	p.Stop()
	r.pebble(0) // which remembers nothing
	r.o.Names = []string{"a.example", "b.example"}
	m = r.open()
	m.Start()
	r.has(m, "b.example")
	if m.Failures() != 0 {
		t.Errorf("got %d failures", m.Failures())
	}
}

// TestCloseWaitsForNobody closes while the authority is silent, and wants all goroutines back.
func TestCloseWaitsForNobody(t *testing.T) {
	testkit.Slow(t, "the last goroutines of the library end after five seconds")
	r := newRig(t, "a.example")
	silent := listenAt(t, r.directory)
	before := runtime.NumGoroutine()
	m := r.open()
	m.Start()
	r.wantCloseAtOnce(m, silent)
	testkit.Eventually(t, "the goroutines are back", func() bool { return runtime.NumGoroutine() <= before })
}

// TestCloseGivesUpARenewal is the same for a certificate that has come due.
func TestCloseGivesUpARenewal(t *testing.T) {
	t.Parallel()
	name := dueName()
	r := newRig(t, name)
	p := r.pebble(30 * time.Minute)
	m := r.open()
	m.Start()
	r.has(m, name)
	m.Close()
	p.Stop()
	silent := listenAt(t, r.directory)
	r.log = &testkit.Buffer{}
	r.o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	m = r.open()
	m.Start()
	r.wantCloseAtOnce(m, silent)
	if m.Certificate(name) == nil {
		t.Error("the certificate has gone")
	}
}

// wantCloseAtOnce closes m after it has sent a request to an authority that does not
// answer.
func (r *rig) wantCloseAtOnce(m *Manager, silent net.Listener) {
	t := r.t
	t.Helper()
	_ = silent.(*net.TCPListener).SetDeadline(time.Now().Add(testkit.Patience))
	c, err := silent.Accept()
	if err != nil {
		t.Fatalf("nobody comes: %v; the log:\n%s", err, r.log)
	}
	defer c.Close()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		m.Close()
		m.Close()
	}()
	select {
	case <-closed:
	case <-time.After(testkit.Patience):
		t.Fatal("Close hangs")
	}
	if m.Failures() != 0 || strings.Contains(r.log.String(), "level=ERROR") || strings.Contains(r.log.String(), "level=WARN") {
		t.Errorf("got %d failures and the log:\n%s\nwant nothing of what was meant to end", m.Failures(), r.log)
	}
}

func TestAFolderThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if err := CheckStorage(path); err == nil {
			t.Errorf("%s: got no error from CheckStorage", path)
		}
		if _, err := New(Options{Names: []string{"a"}, Storage: path, Log: slog.Default(), Now: time.Now}); err == nil {
			t.Errorf("%s: got no error from New", path)
		}
	}
	if err := CheckStorage(filepath.Join(dir, "new", "one")); err != nil {
		t.Errorf("a folder to be made: got %v", err)
	}
	if err := CheckStorage(dir); err != nil {
		t.Errorf("a folder: got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("got %v, want nothing left behind", left)
	}
}

// TestStoredNonsenseIsTold: the other names go on.
func TestStoredNonsenseIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a.example", "b.example")
	r.pebble(0)
	m := r.open()
	m.Start()
	r.has(m, "a.example")
	r.has(m, "b.example")
	m.Close()
	found, err := filepath.Glob(filepath.Join(r.o.Storage, "certificates", "*", "a.example", "a.example.key"))
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v, %v", found, err)
	}
	if err := os.WriteFile(found[0], []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	m = r.open()
	if m.Certificate("a.example") != nil || m.Certificate("b.example") == nil || !strings.Contains(r.log.String(), "a stored certificate cannot be used") {
		t.Errorf("got %v, %v and the log:\n%s", m.Certificate("a.example"), m.Certificate("b.example"), r.log)
	}
}
