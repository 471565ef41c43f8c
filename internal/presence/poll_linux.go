package presence

import "golang.org/x/sys/unix"

// canPoll says that a socket can be asked whether its client has left.
const canPoll = true

// poll asks about many sockets at once.
type poll struct {
	fds     []unix.PollFd
	clients []*Client // of fds
	gone    []*Client
}

// missing returns the clients that have left. The result is good until the next call.
func (p *poll) missing(clients []*Client) []*Client {
	p.gone, p.fds, p.clients = p.gone[:0], p.fds[:0], p.clients[:0]
	for _, g := range clients {
		fd, open := g.descriptor()
		if !open {
			p.gone = append(p.gone, g) // somebody has closed its connection
			continue
		}
		p.fds, p.clients = append(p.fds, unix.PollFd{Fd: fd, Events: unix.POLLRDHUP}), append(p.clients, g)
	}
	if len(p.fds) == 0 {
		return p.gone
	}
	if n, err := unix.Poll(p.fds, 0); err == nil && n > 0 {
		p.judge()
	}
	clear(p.clients)
	return p.gone
}

// judge finds the clients that have left by what poll(2) has answered.
func (p *poll) judge() {
	for i := range p.fds {
		g, told := p.clients[i], p.fds[i].Revents
		switch {
		case told&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0, told&unix.POLLRDHUP != 0 && g.quiet():
			p.gone = append(p.gone, g)
		}
	}
}

// quiet is called at each sweep that finds that the client has ended its side. It reports
// whether nothing was sent to it for so long that it is held to be gone.
func (g *Client) quiet() bool {
	if sent := g.sent.Load(); g.silent == 0 || sent != g.before {
		g.silent, g.before = 1, sent
		return false
	}
	g.silent++
	return g.silent > grace
}

// descriptor returns the descriptor of the client's socket, and false where that was closed.
// The socket may be closed at any time after that, and the descriptor used for another one. So
// what poll(2) says of it counts only for a client that is in the list afterwards, too.
func (g *Client) descriptor() (fd int32, open bool) {
	if g.raw == nil {
		raw, err := g.conn.SyscallConn()
		if err != nil {
			return 0, false
		}
		g.raw = raw
	}
	err := g.raw.Control(func(n uintptr) { fd = int32(n) }) //nolint:gosec // a descriptor
	return fd, err == nil
}
