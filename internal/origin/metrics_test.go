package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestEveryRequestIsCountedOnce(t *testing.T) {
	f := func(response string, o Options, wantOutcome string, wantBytes int) {
		t.Helper()
		registry := prometheus.NewRegistry()
		o.Metrics = NewMetrics(registry)
		var origin *Origin
		if o.Dial != nil {
			origin = open(t, o)
		} else {
			origin = start(t, o, func(_ int, p *peer) { p.request(); p.say(response) })
		}
		_, _, _ = fetch(origin, get("/"))
		for _, name := range []string{"ok", "not_modified", "client_error", "server_error", "connect", "timeout", "cut"} {
			want := 0.0
			if name == wantOutcome {
				want = 1
			}
			if got := sample(t, registry, "edgeproxy_origin_requests_total", "app", name); got != want {
				t.Errorf("%.40q: got %v requests with outcome %s, want %v", response, got, name, want)
			}
		}
		if got := sample(t, registry, "edgeproxy_origin_bytes_total", "app"); got != float64(wantBytes) {
			t.Errorf("%.40q: got %v bytes, want %d", response, got, wantBytes)
		}
		for _, state := range []string{"idle", "active"} {
			want := 0.0
			if state == "idle" && wantOutcome == "not_modified" {
				want = 1
			}
			if got := sample(t, registry, "edgeproxy_origin_connections", "app", state); got != want {
				t.Errorf("%.40q: got %v %s connections, want %v", response, got, state, want)
			}
		}
	}
	const closing = " X\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
	f("HTTP/1.1 200"+closing, Options{}, "ok", 2)
	f("HTTP/1.1 301"+closing, Options{}, "ok", 2)
	f("HTTP/1.1 304 X\r\n\r\n", Options{}, "not_modified", 0)
	f("HTTP/1.1 404"+closing, Options{}, "client_error", 2)
	f("HTTP/1.1 500"+closing, Options{}, "server_error", 2)
	f("HTTP/1.1 999"+closing, Options{}, "server_error", 2)
	f("HTTP/1.1 200"+closing[:len(closing)-1], Options{}, "cut", 1)
	f(chunkedHead+"1\r\nx\r\nx", Options{}, "cut", 1)
	f("HTTP/1.1 200 OK\r\n", Options{}, "cut", 0)
	f("nonsense\r\n\r\n", Options{}, "cut", 0)
	f("", Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }}, "connect", 0)
}

func TestTimeoutIsCounted(t *testing.T) {
	for _, response := range []string{"", lengthHead + "hello"} {
		registry := prometheus.NewRegistry()
		o := start(t, Options{Metrics: NewMetrics(registry), Settings: Settings{FirstByteTimeout: 1, IdleTimeout: 1}}, func(_ int, p *peer) { p.untilClosed() })
		if response != "" {
			o = inMemory(t, Options{Metrics: o.options.Metrics, Settings: Settings{IdleTimeout: 1}}, func(_ int, p *peer) { p.request(); p.say(response); p.untilClosed() })
		}
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Timeout)
		if got := sample(t, registry, "edgeproxy_origin_requests_total", "app", "timeout"); got != 1 {
			t.Errorf("%q: got %v timeouts, want 1", response, got)
		}
	}
}

func TestGivenUpBodyCountsAsItsStatus(t *testing.T) {
	registry := prometheus.NewRegistry()
	o := start(t, Options{Metrics: NewMetrics(registry)}, each("HTTP/1.1 404 X\r\nContent-Length: 99\r\n\r\nok"))
	res, err := o.RoundTrip(context.Background(), get("/"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res.Body.Close()
	if got := sample(t, registry, "edgeproxy_origin_requests_total", "app", "client_error"); got != 1 {
		t.Errorf("got %v requests with outcome client_error, want 1", got)
	}
	if got := sample(t, registry, "edgeproxy_origin_first_byte_seconds", "app"); got != 1 {
		t.Errorf("got %v observations of the first byte, want 1", got)
	}
}

// Overload, a context that ended and a request that cannot be sent say nothing
// about the origin.
func TestWhatIsNotTheOriginsDoingIsNotCounted(t *testing.T) {
	for _, k := range []Kind{Overload, Canceled, BadRequest} {
		if o, counted := k.failure(); counted {
			t.Errorf("%v counts as %v, want not at all", k, o)
		}
	}
}

func TestOriginsOfOneNameAddUp(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics := NewMetrics(registry)
	for range 2 {
		wantBody(t, start(t, Options{Metrics: metrics}, each(okWire)), get("/"), "ok")
	}
	if got := sample(t, registry, "edgeproxy_origin_connections", "app", "idle"); got != 2 {
		t.Errorf("got %v idle connections, want those of both", got)
	}
}

func TestEveryMetricHasHelp(t *testing.T) {
	registry := prometheus.NewRegistry()
	NewMetrics(registry).of("app")
	families, err := registry.Gather()
	if err != nil || len(families) != 9 {
		t.Fatalf("got %d metrics and error %v, want 9", len(families), err)
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "edgeproxy_origin_") || f.GetHelp() == "" {
			t.Errorf("%s: got help %q", f.GetName(), f.GetHelp())
		}
	}
}

// Names that change with every reload filled /metrics without end, and a file that was refused
// left series of its origins.
func TestSeriesOfOriginsThatAreGoneStayedForEver(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	made := func(name string) *Origin {
		o, err := New(Options{Name: name, Address: "127.0.0.1:9", Metrics: m})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Close)
		return o
	}
	series := func() (n int, names map[string]bool) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		names = map[string]bool{}
		for _, f := range families {
			for _, one := range f.GetMetric() {
				n++
				names[one.GetLabel()[0].GetValue()] = true
			}
		}
		return n, names
	}
	busy := func(name string) bool { return name == "o3" }
	const each = int(outcomeCount) + 11
	kept, old := made("kept"), made("o0")
	m.InForce([]string{"kept", "o0"}, busy)
	for i := 1; i < 300; i++ {
		name := fmt.Sprint("o", i)
		made(name).metrics.ended(outcomeOK)
		m.InForce([]string{"kept", name}, busy)
		kept.metrics.ended(outcomeOK)
	}
	if n, names := series(); n != each*66 || !names["o3"] || !names["o299"] || !names["kept"] || names["o0"] || names["o100"] {
		t.Errorf("got %d series, %v, want %d, those of the last 64 names that went and o3, which is busy, among them", n, names, each*66)
	}
	made("refused")
	m.InForce([]string{"kept", "o299"}, busy)
	if n, names := series(); n != each*66 || names["refused"] {
		t.Errorf("a file that was refused: got %d series, %v", n, names)
	}
	made("o0")
	old.metrics.ended(outcomeOK)
	m.InForce([]string{"kept", "o0"}, busy)
	if got := sample(t, registry, "edgeproxy_origin_requests_total", "o0", "ok"); got != 0 {
		t.Errorf("a late request of an origin without series: got %v for the one that has its name, want 0", got)
	}
	if got := sample(t, registry, "edgeproxy_origin_requests_total", "kept", "ok"); got != 299 {
		t.Errorf("got %v of the name that stayed, want 299", got)
	}
}
