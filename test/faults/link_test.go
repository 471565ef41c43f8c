package faults

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"edgeproxy/internal/test/testkit"
)

// link is the network between program and origin.
type link struct {
	t        *testing.T
	server   *toxiproxy.ApiServer
	upstream string
	p        *toxiproxy.Proxy
}

// toxic is a fault of a link, in the words of toxiproxy.
type toxic struct {
	kind       string
	attributes map[string]int
}

// newLink starts a network that leads to address, without a fault.
func newLink(t *testing.T, address string) *link {
	t.Helper()
	l := &link{
		t: t, upstream: address,
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop()),
	}
	l.start(testkit.QuietHost + ":0") // so that a port that was let go can be taken again
	t.Cleanup(func() { l.p.Stop() })
	return l
}

func (l *link) start(address string, faults ...toxic) {
	l.t.Helper()
	l.p = toxiproxy.NewProxy(l.server, "origin", address, l.upstream)
	for _, f := range faults {
		l.add(f)
	}
	if err := l.p.Start(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *link) address() string { return l.p.Listen }

// add makes what comes from the origin suffer, on connections that are open as well.
// None of them may be in the middle of anything: see become.
func (l *link) add(f toxic) {
	l.t.Helper()
	text, err := json.Marshal(map[string]any{"name": f.kind, "type": f.kind, "attributes": f.attributes})
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.p.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
		l.t.Fatalf("add %s: %v", f.kind, err)
	}
}

// become cuts all connections and starts again with these faults, or none. Toxics are not
// taken away from connections, for toxiproxy waits for ever for one whose receiver has
// gone.
func (l *link) become(faults ...toxic) {
	l.t.Helper()
	l.p.Stop()
	l.start(l.p.Listen, faults...)
}
