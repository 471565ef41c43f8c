package listen

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openAt(t *testing.T, o Options) (net.Listener, error) {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	ln, err := Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { _ = ln.Close() })
	}
	return ln, err
}

func mustOpen(t *testing.T, o Options) net.Listener {
	t.Helper()
	ln, err := openAt(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// echoes reports whether a connection to address reaches ln.
func echoes(t *testing.T, ln net.Listener, network, address string) {
	t.Helper()
	client, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(server, "hello")
	_ = server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v, want hello", got, err)
	}
}

func TestAConnectionIsHandedOnBare(t *testing.T) {
	ln := mustOpen(t, Options{Address: "127.0.0.1:0", Limiter: NewConnLimiter(ConnLimits{PerAddress: 9}, nil)})
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, ok := server.(*net.TCPConn); !ok {
		t.Errorf("got a %T, want a *net.TCPConn, on which writev works", server)
	}
}

func TestSocketInTheFileSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edge.sock")
	address := "unix:" + path
	mode := func(want os.FileMode) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("got %v, %v, want mode %v", info, err, want)
		}
	}
	ln := mustOpen(t, Options{Address: address})
	mode(0o600)
	echoes(t, ln, "unix", path)
	if _, err := openAt(t, Options{Address: address}); err == nil || !strings.Contains(err.Error(), address+": the socket is in use") {
		t.Errorf("a second listener: got %v, want an error", err)
	}
	if asked, err := ln.Accept(); err == nil { // whether it is in use
		_ = asked.Close()
	}
	echoes(t, ln, "unix", path)
	_ = ln.Close()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: got %v, want no socket", err)
	}

	// One that a process has left behind.
	addr, _ := net.ResolveUnixAddr("unix", path)
	left, err := net.ListenUnix("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	ln = mustOpen(t, Options{Address: address, Mode: 0o666})
	mode(0o666)
	echoes(t, ln, "unix", path)
}

func TestAFileThatIsNoSocketStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, Options{Address: "unix:" + path}); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("got %v, want an error", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("got %q, %v, want the file as it was", got, err)
	}
}
