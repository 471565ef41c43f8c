package proxy

import "edgeproxy/internal/proxy/internal/running"

// This file notes the requests that run for longer than an answer from memory takes: those that Finish
// answers, and those whose content is streamed.

// Running returns the requests that began first of those under way, at most n, and how many there are in all. Hits that are
// answered from memory at once are none of them.
func (p *Proxy) Running(n int) (rows []running.Row, total int) { return p.running.Oldest(n) }

// noteRunning notes that x goes on after Begin or Finish, and what it waits for then.
func (p *Proxy) noteRunning(x *exchange) {
	phase := x.phase()
	if x.run.On() {
		x.run.Enter(phase)
		return
	}
	if x.run == nil {
		x.run = &running.Request{}
	}
	a := running.About{
		Start: x.start, Scheme: x.scheme, Method: x.method, Host: x.host, Target: x.target.Raw, Client: x.ClientAddress(),
	}
	if x.route != nil {
		a.Route = x.route.Name
	}
	p.running.Begin(x.run, x.lane, &a, phase)
}

// phase is what x waits for, as far as Begin and Finish know.
func (x *exchange) phase() running.Phase {
	switch {
	case x.streaming && x.answer.TakeOver != nil:
		return running.Tunnel
	case x.streaming:
		return running.Sending
	case x.way == needsPassword:
		return running.Password
	case x.way == hit, x.way == needsDisk:
		return running.Disk
	}
	return running.Origin
}

// waitsFor notes that x waits for the head of a response: one that another request fetches, or its own.
func (x *exchange) waitsFor(other bool) {
	if other {
		x.run.Enter(running.SharedFetch)
		return
	}
	x.run.Enter(running.Origin)
}
