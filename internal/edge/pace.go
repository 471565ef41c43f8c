package edge

import (
	"net"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/sendfile"
)

// buildPace builds the watch over how fast clients read responses and over what they pin in
// memory meanwhile. It also builds the copies that large responses are sent from.
func (e *Edge) buildPace() {
	e.sends = pace.New(pace.Options{Send: paceOf(e.config.Limits.SendRate), Pinned: e.pinned, Client: e.clientOf, Panics: e.panics, Log: e.log})
	e.copies = sendfile.New(sendfile.Options{MaxBytes: int64(e.config.Copies()), Panics: e.panics, Log: e.log})
	e.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_cache_copies_bytes",
			Help: "Bytes of copies of large bodies that are asked for often, in files in memory: hits by HTTP/1.1 without TLS are sent from them. Beside bytes, and at most a sixteenth of max_bytes.",
		}, func() float64 { return float64(e.copies.Bytes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_cache_copies",
			Help: "Those copies. Each has a file descriptor, until it has left and nobody is sent from it any more.",
		}, func() float64 { return float64(e.copies.Files()) }),
		e.rejections("send_rate", e.slowClients),
		e.rejections("pinned_bytes", func() int64 {
			_, shed := e.sends.LetGo()
			return shed
		}),
	)
}

// slowClients returns how many clients were cut off because of limits.send_rate.
func (e *Edge) slowClients() int64 {
	slow, _ := e.sends.LetGo()
	return slow + e.slowStreams.Load() + e.proxy.SlowReaders()
}

// clientOf returns the client of conn, which is a connection or one HTTP/2 stream.
func (e *Edge) clientOf(conn net.Conn) netip.Prefix {
	c, _ := e.peers.Client(conn)
	return c
}

func paceOf(p config.Pace) pace.Rate { return pace.Rate{Bytes: int64(p.Bytes), Over: p.Over} }
