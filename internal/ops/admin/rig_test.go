package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/test/testkit"
)

// purges records what was purged; a value that starts with "bad" is refused, and one that starts
// with "full" is purged and not kept.
type purges struct {
	mu   sync.Mutex
	done []string
}

func (p *purges) Purge(by string, values []string, soft bool) (objects int, counted bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range values {
		if strings.HasPrefix(v, "bad") {
			return 0, false, errors.New("no scheme")
		}
	}
	words := append([]string{by}, values...)
	if soft {
		words = append([]string{"soft"}, words...)
	}
	p.done = append(p.done, strings.Join(words, " "))
	if strings.HasPrefix(words[len(words)-1], "full") {
		return 0, false, notKeptError{errors.New("no space left")}
	}
	return 2 * len(values), by == "url" && !soft, nil
}

// notKeptError is an error of a purge that was done.
type notKeptError struct{ error }

func (notKeptError) Purged() bool { return true }

func (p *purges) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.done, "; ")
}

// record is a log that can be read while it is written.
type record struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

func options() Options {
	return Options{
		Address:  "127.0.0.1:9980",
		Registry: prometheus.NewRegistry(),
		Ready:    func() (bool, string) { return true, "" },
		Page:     http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "the page") }),
		Status:   func() any { return map[string]any{"objects": 3} },
		Purger:   &purges{},
		Log:      slog.New(slog.DiscardHandler),
	}
}

func mustNew(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return s
}

// rig is a server on a loopback socket and a client of it.
type rig struct {
	t      *testing.T
	server *Server
	addr   string
	client *http.Client
	served chan error // what Serve returned
}

func serve(t *testing.T, s *Server) *rig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	transport := &http.Transport{}
	g := &rig{
		t: t, server: s, addr: l.Addr().String(), served: make(chan error, 1),
		client: &http.Client{Transport: transport, Timeout: testkit.Patience},
	}
	go func() { g.served <- s.Serve(l) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-g.served; err != nil {
			t.Errorf("Serve: got %v after Close, want nil", err)
		}
	})
	return g
}

// reply is a response that was read.
type reply struct {
	status int
	body   string
	header http.Header
}

// do sends a request; header is a list of names and values, where Host is the
// request's host. It may run in a goroutine of its own: a failure is reported,
// and the answer is empty.
func (g *rig) do(method, path, body string, header ...string) reply {
	g.t.Helper()
	r, err := http.NewRequest(method, "http://"+g.addr+path, strings.NewReader(body))
	if err != nil {
		g.t.Errorf("request: %v", err)
		return reply{}
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := g.client.Do(r)
	if err != nil {
		g.t.Errorf("%s %s: %v", method, path, err)
		return reply{}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Errorf("%s %s: read body: %v", method, path, err)
		return reply{}
	}
	return reply{resp.StatusCode, string(b), resp.Header}
}

// errorText returns the text of a JSON error, and fails if a is anything else.
func (g *rig) errorText(a reply) string {
	g.t.Helper()
	var e map[string]string
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || len(e) != 1 || e["error"] == "" {
		g.t.Errorf("status %d, body %q: want a JSON error", a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		g.t.Errorf("status %d, Content-Type: got %q, want application/json", a.status, got)
	}
	return e["error"]
}
