package edge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"edgeproxy/config"
	"edgeproxy/internal/front/listen"
)

// AddressWarnings returns which addresses of c a start would fail to open now. It opens each for a moment, and leaves nothing
// behind. An address that is in use is no problem here, since the proxy may be running. They are warnings, because systemd may
// open an address or create its folder before a start, and another user may be allowed more.
func AddressWarnings(ctx context.Context, c *config.Config) (out []config.Warning) {
	check := func(path, address string) {
		if err := checkAddress(ctx, address); err != nil {
			out = append(out, c.Warn(path, "a start would fail now: "+err.Error()))
		}
	}
	for i := range c.Listen {
		check(fmt.Sprintf("listen[%d].address", i), c.Listen[i].Address)
	}
	check("admin.address", c.Admin.Address)
	check("metrics.address", c.Metrics.Address)
	return out
}

// checkAddress returns why an address cannot be opened, nil if it can be, is in use or is "".
func checkAddress(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return checkSocketPath(path)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, listen.Network(address), address)
	if err == nil {
		return ln.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil
	}
	if inner, ok := errors.AsType[*os.SyscallError](err); ok {
		err = inner.Err // the operator sees the address beside it
	}
	return err
}

// checkSocketPath returns why there cannot be a socket at path.
func checkSocketPath(path string) error {
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		return errors.New("the file exists and is not a socket")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return checkWritableDir(filepath.Dir(path))
}
