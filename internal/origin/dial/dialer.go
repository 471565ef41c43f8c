package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
)

// ErrClosed is what Dial returns after Close.
var ErrClosed = errors.New("the dialer is closed")

// Dialer makes connections. It is safe for concurrent use.
type Dialer struct {
	options Options
	names   names
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	mu       sync.Mutex
	followed map[Query][]Endpoint // what was last known of each
	closed   bool                 // then running grows only from within
	running  sync.WaitGroup       // dials, lookups, and attempts that nobody waits for any more
}

// New returns a Dialer; it must be closed.
func New(options Options) *Dialer {
	options.setDefaults()
	d := &Dialer{options: options, followed: map[Query][]Endpoint{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.names = names{options: &d.options, ctx: d.ctx, running: &d.running, known: map[string]*name{}}
	return d
}

// Close ends dials and lookups, and waits for them.
func (d *Dialer) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}

// Dial makes a connection to address, HOST:PORT where HOST is a name or an IP
// address, or to the socket of that path for network unix; a *LocalError says nothing of it. It returns when ctx ends,
// which bounds the lookup and all attempts, and the wait for a socket whose backlog is full.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, ErrClosed
	}
	d.running.Add(1)
	d.mu.Unlock()
	defer d.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	c, err := d.dial(ctx, network, address)
	switch {
	case err == nil:
		return c, nil
	case d.ctx.Err() != nil:
		return nil, ErrClosed
	}
	return nil, local(err)
}

// Failed says that a connection to address, which reached the address at, was of no
// use: a server may take connections and answer nothing. The other addresses of the
// name are tried before it then, those that have failed longer ago before later ones.
func (d *Dialer) Failed(address string, at net.Addr) {
	host, _, err := net.SplitHostPort(address)
	tcp, ok := at.(*net.TCPAddr)
	if err == nil && ok {
		d.names.failed(host, tcp.AddrPort().Addr().Unmap())
	}
}

func (d *Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "unix" {
		return d.socket(ctx, network, address)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("dial %s: must be a numeric port", address)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return d.options.Connect(ctx, network, address)
	}
	addrs, err := d.names.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	c, i, err := d.race(ctx, network, addrs, uint16(port))
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) && !short(err) { // which says nothing of the addresses
			d.names.doubt(host)
		}
		return nil, err
	}
	d.names.answered(host, addrs[i])
	return c, nil
}
