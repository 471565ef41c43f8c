package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/coreos/go-systemd/v22/activation"
)

// Inherited are the listening sockets that the process was started with, as systemd does
// it (sd_listen_fds(3)). The program that opened them keeps them open over a restart, so that
// clients wait instead of being refused. Each is found by its address. It is
// safe for concurrent use.
type Inherited struct {
	mu   sync.Mutex
	left []net.Listener
}

// Inherit takes the sockets over. It takes their variables out of the environment, so
// that no child takes them for its own. Without any it returns nil.
func Inherit() (*Inherited, error) {
	files := activation.Files(true)
	if len(files) == 0 {
		return nil, nil
	}
	return inherit(files)
}

// inherit makes listeners of files and closes them.
func inherit(files []*os.File) (*Inherited, error) {
	in := &Inherited{}
	for i, f := range files {
		ln, err := net.FileListener(f)
		_ = f.Close()
		if err != nil {
			for _, rest := range files[i+1:] {
				_ = rest.Close()
			}
			in.Close()
			return nil, fmt.Errorf("inherited socket %d (%s): %w: must be a listening stream socket", i, f.Name(), err)
		}
		in.left = append(in.left, ln)
	}
	return in, nil
}

// take returns the socket with the address of o, nil if there is none.
func (in *Inherited) take(o Options) (net.Listener, error) {
	if in == nil {
		return nil, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, ln := range in.left {
		if !serves(ln.Addr(), o.Address) {
			continue
		}
		in.left = append(in.left[:i], in.left[i+1:]...)
		if u, ok := ln.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // it belongs to who opened it
		}
		if err := dropStalled(ln, o.WriteIdleTimeout); err != nil {
			_ = ln.Close()
			return nil, fmt.Errorf("inherited socket %s: %w", o.Address, err)
		}
		return ln, nil
	}
	return nil, nil
}

// Unused is an error that names the sockets that no address has taken: they were meant
// for something. It is nil if there are none.
func (in *Inherited) Unused() error {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var problems []error
	for _, ln := range in.left {
		problems = append(problems, fmt.Errorf("inherited socket %s: no listener has this address", ln.Addr()))
	}
	return errors.Join(problems...)
}

// Close closes the sockets that no address has taken.
func (in *Inherited) Close() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, ln := range in.left {
		_ = ln.Close()
	}
	in.left = nil
}

// serves reports whether a socket with this address is what is meant by address:
// HOST:PORT, where an empty host and the unspecified addresses are the same, or
// unix:PATH. A name is not looked up.
func serves(has net.Addr, address string) bool {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		return has.Network() == "unix" && has.String() == path
	}
	tcp, ok := has.(*net.TCPAddr)
	if !ok {
		return false
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != strconv.Itoa(tcp.Port) {
		return false
	}
	mine := tcp.AddrPort().Addr().Unmap()
	if host == "" {
		return mine.IsUnspecified()
	}
	wanted, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost") && mine.IsLoopback()
	}
	return mine == wanted.Unmap()
}
