package edge

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/dial"
	"edgeproxy/internal/test/testkit"
)

// app is a server on several addresses. Its answers say on which one they were made.
type app struct {
	mu    sync.Mutex
	names map[string]int // names of TLS (SNI) and Host, and how often
}

// startApp starts it on each of these addresses of one port, which it returns. Config nil is no TLS.
func startApp(t *testing.T, secure *tls.Config, port string, addresses ...string) (a *app, at string) {
	t.Helper()
	a = &app{names: map[string]int{}}
	for _, address := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(address, port))
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(l.Addr().String())
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := r.Host
			if r.TLS != nil {
				name += " " + r.TLS.ServerName
			}
			a.mu.Lock()
			a.names[name]++
			a.mu.Unlock()
			_, _ = io.WriteString(w, address)
		})}
		if secure != nil {
			l = tls.NewListener(l, secure)
		}
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(l) })
		t.Cleanup(func() {
			s.Close()
			serving.Wait()
		})
	}
	return a, port
}

// named is an origin whose names a test server has.
type named struct {
	*origin.Origin
	names *testkit.NameServer
	log   *testkit.Buffer
}

func startNamed(t *testing.T, names *testkit.NameServer, settings string) *named {
	t.Helper()
	c, err := config.Parse("edge.yaml", []byte("origins: {app: "+settings+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := &named{names: names, log: &testkit.Buffer{}}
	e := originSide{
		core:  &core{config: c, log: slog.New(slog.NewTextHandler(n.log, nil))},
		calls: origin.NewMetrics(nil), dialer: dial.New(dial.Options{NameServer: names.Address}),
	}
	t.Cleanup(e.dialer.Close)
	if n.Origin, err = e.newOrigin(c, &c.Origins[0], nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// ask sends requests and returns which addresses answered how many, as a text; and of failures the error.
func (n *named) ask(t *testing.T, requests int) string {
	t.Helper()
	counts := map[string]int{}
	for range requests {
		res, err := n.RoundTrip(t.Context(), &origin.Request{Method: "GET", Target: "/", Host: "www.example.com"})
		if err != nil {
			counts[err.Error()]++
			continue
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		_ = res.Body.Close()
		counts[string(text)]++
	}
	return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(counts), "map["), "]")
}

// servers returns the servers and their states.
func (n *named) servers() string {
	var out []string
	for _, s := range n.Stats(time.Now()).Servers {
		text := s.Address + " " + s.State.String()
		if s.Backup {
			text += " backup"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// become waits for the servers to be these, where %s is the port.
func (n *named) become(t *testing.T, want string) {
	t.Helper()
	testkit.Eventually(t, want, func() bool { return n.servers() == want })
}

func TestAllAddressesOfANameAreServers(t *testing.T) {
	testkit.Slow(t, "an address leaves after three answers, a second apart")
	authority := testkit.NewAuthority(t)
	file := t.TempDir() + "/ca.pem"
	authority.Write(file)
	a, port := startApp(t, &tls.Config{Certificates: []tls.Certificate{authority.Good("app.internal")}}, "0", "127.0.0.2", "127.0.0.3", "127.0.0.4")
	names := testkit.StartNameServer(t)
	names.SetAddresses("app.internal", 1, "127.0.0.2 127.0.0.3 127.0.0.9") // nobody listens at the last one
	n := startNamed(t, names, fmt.Sprintf(`{servers: ["https://app.internal:%s"], resolve: all, host_header: server, tls: {ca: %q}, ejection: {failures: 1}}`, port, file))
	server := func(address, state string) string {
		return fmt.Sprintf("app.internal:%s (%s) %s", port, address, state)
	}

	if got, want := n.ask(t, 20), "127.0.0.2:10 127.0.0.3:10"; got != want {
		t.Errorf("got answers of %s, want %s", got, want)
	}
	n.become(t, server("127.0.0.2", "up")+", "+server("127.0.0.3", "up")+", "+server("127.0.0.9", "ejected"))

	names.SetAddresses("app.internal", 1, "127.0.0.3 127.0.0.4")
	n.become(t, server("127.0.0.3", "up")+", "+server("127.0.0.4", "up"))
	if got, want := n.ask(t, 20), "127.0.0.3:10 127.0.0.4:10"; got != want {
		t.Errorf("got answers of %s after the name has changed, want %s", got, want)
	}
	if s := n.Stats(time.Now()); s.Leaving != 0 {
		t.Errorf("got %+v, want no connections to addresses that have left", s)
	}

	names.Fail(true)
	testkit.Eventually(t, "the failure is logged", func() bool { return strings.Contains(n.log.String(), "cannot be looked up: those known stay in use") })
	if got, want := n.ask(t, 20), "127.0.0.3:10 127.0.0.4:10"; got != want {
		t.Errorf("got answers of %s while the resolver is down, want %s", got, want)
	}
	names.Fail(false)
	testkit.Eventually(t, "the end of the failure is logged", func() bool { return strings.Contains(n.log.String(), "can be looked up again") })

	a.mu.Lock()
	defer a.mu.Unlock()
	if want := "app.internal:" + port + " app.internal"; len(a.names) != 1 || a.names[want] == 0 {
		t.Errorf("got the names %v, want %s", a.names, want)
	}
	if got, want := n.log.String(), `joined="app.internal:`+port+` (127.0.0.4)"`; !strings.Contains(got, want) {
		t.Errorf("got the log %s, want %s in it", got, want)
	}
}

// The servers of SRV records get requests by their weights, and those of a higher priority only while the others are out. TLS and Host
// have the name of the file.
func TestServersAreThoseOfSRVRecords(t *testing.T) {
	testkit.Slow(t, "the records are looked up again after a second")
	authority := testkit.NewAuthority(t)
	file := t.TempDir() + "/ca.pem"
	authority.Write(file)
	secure := &tls.Config{Certificates: []tls.Certificate{authority.Good("app.internal")}}
	var ports [3]uint16
	for i := range ports {
		a, port := startApp(t, secure, "0", fmt.Sprintf("127.0.0.%d", 2+i))
		if _, err := fmt.Sscan(port, &ports[i]); err != nil {
			t.Fatal(err)
		}
		defer func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.names) != 1 || a.names["app.internal app.internal"] == 0 {
				t.Errorf("got the names %v, want app.internal alone", a.names)
			}
		}()
	}
	names := testkit.StartNameServer(t)
	one, two, three := testkit.SRV{Weight: 60, Port: ports[0], Target: "one.internal"}, testkit.SRV{Weight: 20, Port: ports[1], Target: "two.internal"},
		testkit.SRV{Priority: 1, Port: ports[2], Target: "three.internal"}
	names.SetSRV("_https._tcp.app.internal", 1, one, two, three)
	names.SetAddresses("one.internal", 1, "127.0.0.2")
	names.SetAddresses("two.internal", 1, "127.0.0.3")
	names.SetAddresses("three.internal", 1, "127.0.0.4")
	f := func(resolve, states string) {
		names.SetSRV("_https._tcp.app.internal", 1, one, two, three)
		n := startNamed(t, names, fmt.Sprintf(`{servers: ["srv+https://_https._tcp.app.internal"], resolve: %s, host_header: server, tls: {ca: %q}}`, resolve, file))
		if got, want := n.ask(t, 40), "127.0.0.2:30 127.0.0.3:10"; got != want {
			t.Errorf("got answers of %s, want %s", got, want)
		}
		n.become(t, fmt.Sprintf(states, ports[0], ports[1], ports[2]))
		last := two
		last.Priority = 2
		names.SetSRV("_https._tcp.app.internal", 1, testkit.SRV{Priority: 1, Port: one.Port, Target: one.Target}, last, testkit.SRV{Port: three.Port, Target: three.Target})
		testkit.Eventually(t, "another priority", func() bool { return strings.HasPrefix(n.servers(), "three.internal:") })
		if got, want := n.ask(t, 40), "127.0.0.4:40"; got != want {
			t.Errorf("got answers of %s, want %s", got, want)
		}
	}
	f("first", "one.internal:%d up, two.internal:%d up, three.internal:%d up backup")
	f("all", "one.internal:%d (127.0.0.2) up, two.internal:%d (127.0.0.3) up, three.internal:%d (127.0.0.4) up backup")
}

// A name without an answer is no server: requests say at once why.
func TestANameThatDoesNotExistIsNoServer(t *testing.T) {
	names := testkit.StartNameServer(t)
	n := startNamed(t, names, `{servers: ["srv+http://_http._tcp.app.internal"]}`)
	testkit.Eventually(t, "the failure is logged", func() bool { return strings.Contains(n.log.String(), "an origin server cannot be looked up") })
	_, err := n.RoundTrip(t.Context(), &origin.Request{Method: "GET", Target: "/", Host: "h"})
	var failure *origin.Error
	if !errors.As(err, &failure) || failure.Kind != origin.Connect || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("got %v, want that there is no such host", err)
	}
}

// What is no name is one server whatever resolve says.
func TestWhatIsNoNameIsOneServer(t *testing.T) {
	names := testkit.StartNameServer(t)
	n := startNamed(t, names, `{servers: ["http://127.0.0.1:9", "unix:/run/app.sock", "http://[::1]", "http://localhost:8", "http://App.LOCALHOST."]}`)
	if got, want := n.servers(), "127.0.0.1:9 up, unix:/run/app.sock up, [::1]:80 up, localhost:8 up, app.localhost:80 up"; got != want {
		t.Errorf("got the servers %s, want %s", got, want)
	}
	n = startNamed(t, names, `{servers: ["http://app.internal"], resolve: first}`)
	if got, want := n.servers(), "app.internal:80 up"; got != want {
		t.Errorf("got the servers %s, want %s", got, want)
	}
	if asked, _ := names.Asked(); asked > 0 {
		t.Errorf("got %d questions, want none", asked)
	}
}
