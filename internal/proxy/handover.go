package proxy

import "net"

// takeOver takes x's connection from the server, which sends no answer then, and has
// serve write one instead. It is called last in the handler. The connection is closed
// when serve returns, in a goroutine of its own; until then AwaitHandedOver waits.
func (p *Proxy) takeOver(x *exchange, serve func(net.Conn)) {
	conn, done := x.ctx.Conn(), make(chan struct{})
	p.handedOver.Store(conn, done)
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(c net.Conn) {
		defer func() {
			if v := recover(); v != nil {
				p.Panics.Note(v)
				reset(conn) // whatever was sent is no whole answer
			}
			p.handedOver.Delete(conn)
			close(done)
		}()
		serve(c)
	})
}

// AwaitHandedOver returns when a connection that the server has handed over is done
// with. A server that calls it from ConnState, for fasthttp.StateHijacked, keeps the
// connection's place among those that it may have at once.
func (p *Proxy) AwaitHandedOver(conn net.Conn) {
	if done, ok := p.handedOver.Load(conn); ok {
		<-done.(chan struct{})
	}
}
