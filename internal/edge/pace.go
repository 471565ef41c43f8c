package edge

import (
	"net"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/sendfile"
)

// buildPace builds the watch over how fast clients read responses and over what they pin in
// memory meanwhile. It also builds the copies that large responses are sent from.
func (cl *clientSide) buildPace() {
	cl.sends = pace.New(pace.Options{SendRate: cl.config.Limits.SendRate, Pinned: cl.pinned, Client: cl.clientOf, Panics: cl.panics, Log: cl.log})
	cl.copies = sendfile.New(sendfile.Options{MaxBytes: cl.config.Copies(), Panics: cl.panics, Log: cl.log})
	cl.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_cache_copies_bytes",
			Help: "Bytes of copies of large bodies that are asked for often, in files in memory: hits by HTTP/1.1 without TLS are sent from them. Beside bytes, and at most a sixteenth of max_bytes.",
		}, func() float64 { return float64(cl.copies.Bytes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_cache_copies",
			Help: "Those copies. Each has a file descriptor, until it has left and nobody is sent from it any more.",
		}, func() float64 { return float64(cl.copies.Files()) }),
		cl.rejections("send_rate", cl.slowClients),
		cl.rejections("pinned_bytes", func() int64 {
			_, shed := cl.sends.LetGo()
			return shed
		}),
	)
}

// slowClients returns how many clients were cut off because of limits.send_rate.
func (cl *clientSide) slowClients() int64 {
	slow, _ := cl.sends.LetGo()
	return slow + cl.slowStreams.Load() + cl.proxy.SlowReaders()
}

// clientOf returns the client of conn, which is a connection or one HTTP/2 stream.
func (cl *clientSide) clientOf(conn net.Conn) netip.Prefix {
	c, _ := cl.peers.Client(conn)
	return c
}
