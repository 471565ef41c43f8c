package main

import (
	"net"
	"net/netip"

	"edgeproxy/config"
	"edgeproxy/internal/pace"
)

// buildPace builds what looks after how fast clients take their answers, and after what
// they keep in memory meanwhile.
func (e *edge) buildPace() {
	e.sends = pace.New(pace.Options{Send: paceOf(e.config.Limits.SendRate), Pinned: e.pinned, Client: e.clientOf, Panics: e.panics, Log: e.log})
	e.registry.MustRegister(
		e.rejections("send_rate", e.slowClients),
		e.rejections("pinned_bytes", func() int64 {
			_, shed := e.sends.LetGo()
			return shed
		}),
	)
}

// slowClients returns how many were let go for limits.send_rate.
func (e *edge) slowClients() int64 {
	slow, _ := e.sends.LetGo()
	return slow + e.slowStreams.Load() + e.proxy.SlowReaders()
}

// clientOf returns whose connection conn is, or the request of HTTP/2 that it is.
func (e *edge) clientOf(conn net.Conn) netip.Prefix {
	c, _ := e.peers.Client(conn)
	return c
}

func paceOf(p config.Pace) pace.Rate { return pace.Rate{Bytes: int64(p.Bytes), Over: p.Over} }
