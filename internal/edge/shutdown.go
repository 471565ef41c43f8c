package edge

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Stop ends everything, outermost first: readiness, listeners and requests,
// fetches without a client, then the rooms they used. The settings of shutdown
// bound it. It may be called after New, Listen or Start, but not while they run.
// Only the first call does anything, and the others wait for it. The end of ctx cuts the waits short.
func (e *Edge) Stop(ctx context.Context) { e.stopping.Do(func() { e.shutdown(ctx) }) }

func (e *Edge) shutdown(ctx context.Context) {
	e.draining.Store(true)
	e.reloader.close()
	e.recent.close()
	e.logNotifyError(e.supervisor.Stopping())
	e.stopOrdering()
	if e.ready.Swap(false) {
		wait(ctx, e.now.Load().config.Shutdown.DrainDelay)
	}
	e.drainConnections(ctx)
	drained := e.drainRequests(ctx)
	if e.proxy != nil {
		e.proxy.Close()
	}
	e.sends.Close()
	e.copies.Close()
	if last := e.now.Load(); last != nil {
		last.close(&live{})
	}
	for _, o := range e.retired {
		o.Close()
	}
	if e.dialer != nil {
		e.dialer.Close()
	}
	if e.gate != nil {
		e.gate.Close()
	}
	if e.store != nil && drained {
		e.store.Close() // only if drained: a lookup must not use a closed store
	}
	e.closeDisk()
	e.closeRecords()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, c := range e.control {
		_ = c.server.Close(ctx)
		_ = c.listener.Close()
	}
	e.serving.Wait()
	e.supervisor.Close()
}

// idleGrace is how long connected clients may send one more request during shutdown.
// The response closes the connection, so they reconnect elsewhere.
const idleGrace = time.Second

// drainConnections closes the listeners, and lets each open connection have one last response.
func (e *Edge) drainConnections(ctx context.Context) {
	if e.proxy == nil {
		return
	}
	e.proxy.Drain()
	e.closeListeners()
	for _, d := range e.listeners {
		d.goAway()
	}
	ctx, cancel := context.WithTimeout(ctx, min(idleGrace, e.now.Load().config.Shutdown.DrainTimeout))
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for e.clients() > 0 {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

// clients returns the number of client connections, including those in a TLS handshake.
func (cl *clientSide) clients() int {
	n := int(cl.connections.Load())
	for _, d := range cl.listeners {
		n += d.handshakes()
	}
	return n
}

// drainRequests lets requests in progress finish within drain_timeout, and
// reports whether all did.
func (e *Edge) drainRequests(ctx context.Context) bool {
	if len(e.listeners) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, e.now.Load().config.Shutdown.DrainTimeout)
	defer cancel()
	err := e.shutdownListeners(ctx)
	e.closeListeners() // includes those that never served
	if err != nil {
		e.logCutOff(err)
		return false
	}
	return e.awaitHandedOver(ctx)
}

// logCutOff logs what drain_timeout has ended. A connection without a complete request is
// kept open for some seconds, since a request may be arriving. Closing it loses no request,
// so this is no warning.
func (e *Edge) logCutOff(err error) {
	if n := e.proxy.InFlight(); n > 0 {
		e.log.Warn("requests were cut off", "error", err, "requests", n)
		return
	}
	e.log.Info("connections without a complete request were closed", "connections", e.clients())
}

// shutdownListeners shuts the servers down concurrently.
func (cl *clientSide) shutdownListeners(ctx context.Context) error {
	errs := make([]error, len(cl.listeners))
	var all sync.WaitGroup
	for i, d := range cl.listeners {
		all.Go(func() { errs[i] = d.shutdown(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (cl *clientSide) closeListeners() {
	for _, d := range cl.listeners {
		if d.listener != nil {
			_ = d.listener.Close()
		}
	}
}

// awaitHandedOver waits for hijacked connections, which the server does not
// count: HTTP/1.0 responses that end with the connection, and upgraded
// connections. Upgraded connections are closed when ctx ends.
func (e *Edge) awaitHandedOver(ctx context.Context) bool {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for e.proxy.InFlight() > 0 {
		select {
		case <-poll.C:
		case <-ctx.Done():
			if n := e.proxy.EndUpgraded(); n > 0 {
				e.log.Info("upgraded connections were closed", "connections", n)
			}
			if n := e.proxy.InFlight(); n > 0 {
				e.log.Warn("requests were cut off", "error", ctx.Err(), "requests", n)
				return false
			}
		}
	}
	return true
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
