package spans

import (
	"testing"
	"time"
)

// BenchmarkAdd is what a request that is traced pays for one span of usual size: encoded, and in the queue.
func BenchmarkAdd(b *testing.B) {
	e := newExporter(Options{}, nil, 1<<20)
	e.target.Store(&Target{Endpoint: "http://nowhere.example"}) // nobody sends
	at := time.Unix(1_700_000_000, 0)
	s := Span{Self: contextOf(1, 2), Parent: [8]byte{7: 3}, Remote: true, Kind: Server, Name: "GET", Start: at, End: at.Add(time.Second), Attributes: []Attribute{
		Text("http.request.method", "GET"), Text("url.scheme", "https"), Text("url.path", "/a/path/of/usual/length.jpg"), Text("network.protocol.version", "1.1"),
		Text("server.address", "www.example.com"), Text("network.peer.address", "192.0.2.1"), Text("client.address", "192.0.2.1"),
		Text("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"), Number("http.response.status_code", 200),
		Number("http.response.body.size", 16384), Text("edgeproxy.result", "hit"), Text("edgeproxy.route", "default"), Number("edgeproxy.ttl", 599), Text("edgeproxy.cache.tier", "memory"),
	}}
	b.ReportAllocs()
	for b.Loop() {
		e.Add(&s)
		if e.counts.full.Load() > 0 {
			e.counts.full.Store(0)
			e.queue.take(e.queue.pending[:0])
		}
	}
}
