package http1

import "net"

// takeOver takes the connection from fasthttp, which sends no answer then, and has
// serve write one instead. It is called last in the handler. The connection is closed
// when serve returns, in a goroutine of its own; until then AwaitHandedOver waits.
func (t *turn) takeOver(serve func(net.Conn)) {
	conn, done := t.request.Conn, make(chan struct{})
	t.conn.lose() // another goroutine reads from now on, and no request
	t.server.handedOver.Store(conn, done)
	t.conn.phase.Store(handed) // fasthttp reports http.StateHijacked when serve may have returned
	t.ctx.HijackSetNoResponse(true)
	t.ctx.Hijack(func(c net.Conn) {
		defer func() {
			if v := recover(); v != nil {
				t.server.o.Panics.Note(v)
				reset(conn) // whatever was sent is no whole answer
			}
			t.server.handedOver.Delete(conn)
			close(done)
		}()
		serve(c)
	})
}

// AwaitHandedOver returns when a connection that was handed over is done
// with. An Options.State that calls it, for http.StateHijacked, keeps the
// connection's place among those that there may be at once.
func (s *Server) AwaitHandedOver(conn net.Conn) {
	if done, ok := s.handedOver.Load(conn); ok {
		<-done.(chan struct{})
	}
}

// reset makes the end of a broken body look like one: a plain close would tell
// the client that it has everything, and so would one of TLS (RFC 8446 section 6.1),
// below which the connection is therefore closed.
func reset(conn net.Conn) {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
		defer func() { _ = conn.Close() }()
	}
	if c, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
}
