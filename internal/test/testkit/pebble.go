package testkit

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Pebble is an authority that gives certificates by ACME: pebble, as Let's Encrypt tests its
// clients with. To it, every name is at the address of QuietAddress.
type Pebble struct {
	Directory string // its URL
	CA        string // a file with the roots that the directory is trusted by

	manage string
	client *http.Client
	cmds   []*exec.Cmd
	said   []*bytes.Buffer // what each has said; to be read when it has ended
	once   sync.Once
}

// PebbleOptions say where Pebble is and where it looks.
type PebbleOptions struct {
	Address   string        // the directory's
	HTTP, TLS string        // addresses of the loopback where challenges are answered
	Validity  time.Duration // how long certificates are good; 0 is 90 days
}

// StartPebble runs Pebble until the end of the test, or until Stop. The program is built from
// what tools/go.mod has.
func StartPebble(tb testing.TB, o PebbleOptions) *Pebble {
	tb.Helper()
	if o.Validity == 0 {
		o.Validity = 90 * 24 * time.Hour
	}
	dir, names := tb.TempDir(), QuietAddress(tb)
	authority := NewAuthority(tb)
	p := &Pebble{Directory: "https://" + o.Address + "/dir", CA: filepath.Join(dir, "ca.pem"), manage: QuietAddress(tb)}
	p.client = &http.Client{Timeout: Patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}, DisableKeepAlives: true,
	}}
	authority.Write(p.CA)
	certificate, key := filepath.Join(dir, "pebble.pem"), filepath.Join(dir, "pebble.key")
	WritePair(tb, authority.Good(QuietHost), certificate, key)
	config := filepath.Join(dir, "pebble.json")
	text, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": o.Address, "managementListenAddress": p.manage, "certificate": certificate, "privateKey": key,
		"keyAlgorithm": "ecdsa", "httpPort": portOf(o.HTTP), "tlsPort": portOf(o.TLS),
		"profiles": map[string]any{"default": map[string]any{"description": "the only one", "validityPeriod": int(o.Validity.Seconds())}},
	}})
	if err == nil {
		err = os.WriteFile(config, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	p.run(tb, "pebble-challtestsrv", "-dnsserver", names, "-management", QuietAddress(tb),
		"-defaultIPv4", QuietHost, "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	p.run(tb, "pebble", "-config", config, "-dnsserver", names)
	tb.Cleanup(p.Stop)
	if !ComesTrue(func() bool { return p.serves(names) }) {
		p.Stop()
		tb.Fatalf("pebble does not serve:\n%s\n%s", p.said[0], p.said[1])
	}
	return p
}

// serves reports whether names have addresses, and there are a directory and a root: each of these has a listener of its own.
func (p *Pebble) serves(names string) bool {
	c, err := net.DialTimeout("tcp", names, time.Second)
	if err == nil {
		_ = c.Close()
		_, err = p.get(p.Directory)
	}
	if err == nil {
		_, err = p.get(p.root())
	}
	return err == nil
}

// run starts a program.
func (p *Pebble) run(tb testing.TB, program string, arguments ...string) {
	tb.Helper()
	cmd, said := exec.Command(tool(tb, program), arguments...), &bytes.Buffer{}
	// Without a pause before a challenge is looked at, and with each order's names looked at.
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0")
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.cmds, p.said = append(p.cmds, cmd), append(p.said, said)
}

// Stop ends the authority.
func (p *Pebble) Stop() {
	p.once.Do(func() {
		for _, cmd := range p.cmds {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// Roots returns what clients trust the certificates by.
func (p *Pebble) Roots(tb testing.TB) *x509.CertPool {
	tb.Helper()
	text, err := p.get(p.root())
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		tb.Fatalf("pebble's root: %v, %s", err, text)
	}
	return pool
}

// root is the URL of the root's certificate.
func (p *Pebble) root() string { return "https://" + p.manage + "/roots/0" }

func (p *Pebble) get(url string) ([]byte, error) {
	res, err := p.client.Get(url)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, res.Status)
	}
	return io.ReadAll(res.Body)
}

func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n
}

// tools are the paths of the programs of tools/go.mod that this process has asked for, by name.
var tools sync.Map

// tool returns a program of those in tools/go.mod. Go builds it, and keeps what it has built.
func tool(tb testing.TB, name string) (program string) {
	tb.Helper()
	Slow(tb, "it builds and starts "+name)
	if path, ok := tools.Load(name); ok {
		return path.(string)
	}
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = toolsFolder(tb)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("go tool %s: %v\n%s", name, err, &said)
	}
	path := strings.TrimSpace(string(out))
	tools.Store(name, path)
	return path
}

// toolsFolder finds tools, from the folder of the test upwards.
func toolsFolder(tb testing.TB) string {
	tb.Helper()
	root, err := repository()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(root, "tools")
}
