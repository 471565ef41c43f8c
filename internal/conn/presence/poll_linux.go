package presence

import "golang.org/x/sys/unix"

// canPoll says that the system can tell whether the client of a socket has left.
const canPoll = true

// poll asks about many sockets at once.
type poll struct {
	fds     []unix.PollFd
	clients []*Client // clients of fds
	gone    []*Client
}

// findGone returns the clients that have left. The result is good until the next call.
func (p *poll) findGone(clients []*Client) []*Client {
	p.gone, p.fds, p.clients = p.gone[:0], p.fds[:0], p.clients[:0]
	for _, g := range clients {
		fd, open := g.descriptor()
		if !open {
			p.gone = append(p.gone, g) // its connection was closed here
			continue
		}
		p.fds, p.clients = append(p.fds, unix.PollFd{Fd: fd, Events: unix.POLLRDHUP}), append(p.clients, g)
	}
	if len(p.fds) == 0 {
		return p.gone
	}
	if n, err := unix.Poll(p.fds, 0); err == nil && n > 0 {
		p.readEvents()
	}
	clear(p.clients)
	return p.gone
}

// readEvents finds the clients that have left in the results of poll(2).
func (p *poll) readEvents() {
	for i := range p.fds {
		g, told := p.clients[i], p.fds[i].Revents
		switch {
		case told&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0, told&unix.POLLRDHUP != 0 && g.silentTooLong():
			p.gone = append(p.gone, g)
		}
	}
}

// silentTooLong is called at each sweep that finds that the client has ended its side. It reports
// whether nothing was sent to it for graceSweeps sweeps, so that it counts as gone.
func (g *Client) silentTooLong() bool {
	if sent := g.sent.Load(); g.silentSweeps == 0 || sent != g.sentBefore {
		g.silentSweeps, g.sentBefore = 1, sent
		return false
	}
	g.silentSweeps++
	return g.silentSweeps > graceSweeps
}

// descriptor returns the descriptor of the client's socket, and false if that was closed.
// The socket may be closed at any time after that, and the descriptor used for another one. So
// the result of poll(2) counts only if the client is still in the list afterwards.
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
