package listen

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files returns a listener's socket as another process would inherit it.
func files(t *testing.T, listeners ...net.Listener) []*os.File {
	t.Helper()
	var out []*os.File
	for _, ln := range listeners {
		f, err := ln.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
		if u, ok := ln.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
		_ = ln.Close()
	}
	return out
}

func bind(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // systemd opens plain ones, and the others have no TCP_USER_TIMEOUT to set
	ln, err := lc.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func TestInheritedSocketsAreTakenByTheirAddress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edge.sock")
	tcp, unix := bind(t, "tcp", "127.0.0.1:0"), bind(t, "unix", path)
	address := tcp.Addr().String()
	in, err := inherit(files(t, tcp, unix))
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Unused(); err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), path) {
		t.Errorf("before: got %v, want both addresses", err)
	}
	ln := mustOpen(t, Options{Address: address, Inherited: in})
	echoes(t, ln, "tcp", address)
	ln = mustOpen(t, Options{Address: "unix:" + path, Inherited: in})
	echoes(t, ln, "unix", path)
	if err := in.Unused(); err != nil {
		t.Errorf("after: got %v, want none left", err)
	}
	_ = ln.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("after Close: got %v, want the socket, which is somebody else's", err)
	}
	// An address that nobody has opened is opened here.
	other := mustOpen(t, Options{Address: "127.0.0.1:0", Inherited: in})
	echoes(t, other, "tcp", other.Addr().String())
}

// TestASocketForAPartOfAnAddressIsNamed: the start ended with "address already in use", and did not say that the socket that
// it was started with is in the way.
func TestASocketForAPartOfAnAddressIsNamed(t *testing.T) {
	tcp := bind(t, "tcp", "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	in, err := inherit(files(t, tcp))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	_, err = Open(t.Context(), Options{Address: ":" + port, Inherited: in})
	if err == nil || !strings.Contains(err.Error(), "address already in use") || !strings.Contains(err.Error(), "inherited socket 127.0.0.1:"+port) {
		t.Errorf("got %v, want the address, and the socket that has a part of it", err)
	}
}

func TestWhatIsInheritedMustBeASocketThatListens(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inherit([]*os.File{f}); err == nil || !strings.Contains(err.Error(), "inherited socket 0") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestNothingInherited(t *testing.T) {
	in, err := Inherit()
	if in != nil || err != nil {
		t.Errorf("got %v, %v, want none", in, err)
	}
	if err := in.Unused(); err != nil {
		t.Errorf("got %v, want nothing unused", err)
	}
	in.Close()
}

func TestServes(t *testing.T) {
	f := func(has net.Addr, address string, want bool) {
		t.Helper()
		if got := serves(has, address); got != want {
			t.Errorf("%s for %s: got %v, want %v", has, address, got, want)
		}
	}
	at := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	f(at("127.0.0.1", 80), "127.0.0.1:80", true)
	f(at("127.0.0.1", 80), "127.0.0.1:81", false)
	f(at("127.0.0.1", 80), "127.0.0.2:80", false)
	f(at("127.0.0.1", 80), "localhost:80", true)
	f(at("::", 80), ":80", true)
	f(at("0.0.0.0", 80), ":80", true)
	f(at("::", 80), "[::]:80", true)
	f(at("::", 80), "[::1]:80", false)
	f(at("127.0.0.1", 80), ":80", false)
	f(at("127.0.0.1", 80), "www.example.com:80", false)
	f(&net.UnixAddr{Name: "/a", Net: "unix"}, "unix:/a", true)
	f(&net.UnixAddr{Name: "/a", Net: "unix"}, "unix:/b", false)
	f(&net.UnixAddr{Name: "/a", Net: "unix"}, "127.0.0.1:80", false)
	f(at("127.0.0.1", 80), "unix:/a", false)
}
