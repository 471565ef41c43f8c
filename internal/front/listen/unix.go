package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// dialTimeout bounds the dial that finds out whether a socket in the file system is in use.
const dialTimeout = time.Second

// listenUnix listens on a socket at path. It first removes a socket that a process has left
// there. It does not remove a socket in use, or a file that is no socket. Closing the listener
// removes its socket.
func listenUnix(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, fmt.Errorf("listen %s%s: %w", unixPrefix, path, err)
	}
	var lc net.ListenConfig
	// Nobody else may connect before the mode is set.
	old := syscall.Umask(0o177)
	ln, err := lc.Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}

// removeStale removes the socket at path if nobody listens on it.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("check the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("the file exists and is not a socket")
	}
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return errors.New("the socket is in use")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("check whether the socket is in use: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove a stale socket: %w", err)
	}
	return nil
}
