package edge

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"edgeproxy/config"
)

// limits.connections was 65536 also where the process may have 1,024 descriptors. So idle connections took all of them, and
// neither made room for others nor left any for the origins.
func TestConnectionsOfClientsMayTakeAllDescriptors(t *testing.T) {
	f := func(text string, limit, connections, wanted int) {
		t.Helper()
		c, err := config.Parse("edge.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, sum := connectionLimit(c, limit); got != connections || sum != wanted {
			t.Errorf("%q with %d: got %d of %d, want %d of %d", text, limit, got, sum, connections, wanted)
		}
	}
	const (
		origins = "origins: {app: {servers: [\"http://h:1\", \"http://h:2\"], max_connections: 100}}\n"
		few     = origins + "limits: {tunnels: 12}\n" // 288 + 200 + 12 = 500 beside the clients and the copies
	)
	f(few, math.MaxInt, 65536, 65536+500+1024)
	f(few, 1<<20, 65536, 65536+500+1024)
	f(few, 65536+500+1024, 65536, 65536+500+1024)
	f(few, 65536+500+1023, 65535, 65536+500+1024)
	f(few, 1600, 1000, 65536+500+100)
	f(few, 1024, 512, 65536+500+64) // at least half
	f(few, 1, 1, 65536+500)
	f(origins+"limits: {tunnels: 12, connections: 100}\n", 1024, 100, 100+500+64)
	f(few+"listen: [{address: \":80\", proxy_protocol: true}]\n", 1600, 500, 2*65536+500+100)
	f(few+"cache: {disk: {path: [/a, /b], max_bytes: 1GiB}}\n", 16000, 16000-500-1000-2*51, 65536+500+1000+2*51)
}

// lowered returns what is logged of limits.connections where the process may have so many descriptors, a line for each
// level: "" is nothing.
func lowered(t *testing.T, c *config.Config, descriptors int) string {
	t.Helper()
	var log bytes.Buffer
	e := clientSide{core: &core{config: c, log: slog.New(slog.NewTextHandler(&log, nil))}}
	e.limitConnections(descriptors)
	_, line, _ := strings.Cut(log.String(), " level=")
	return line
}

// The first line that everybody saw was a warning of a number that nobody had written: 65536, the default.
func TestTheFirstStartWarnedOfANumberThatNobodyHadWritten(t *testing.T) {
	const origins = "origins: {app: {servers: [\"http://127.0.0.1:1\"], max_connections: 100}}\n"
	f := func(text, want string) {
		t.Helper()
		c, err := config.Parse("edge.yaml", []byte(origins+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := lowered(t, c, 1024); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	const (
		says  = ` msg="limits.connections is lowered: the limit of file descriptors is too low for it" `
		usual = "INFO" + says + "connections=512 configured=65536 descriptors=1024 wanted=67012\n"
	)
	f("", usual)
	f("limits: {tunnels: 1024}", usual)
	f("limits: {connections: 65536}", "WARN"+says+"connections=512 configured=65536 ")
	f("limits: {connections: 1000}", "WARN"+says+"connections=512 configured=1000 ")
	f("limits: {connections: 512}", "")
	t.Setenv("EDGE_CONNECTIONS", "2000")
	f("limits: {connections: \"${EDGE_CONNECTIONS}\"}", "WARN"+says+"connections=512 configured=2000 ")
	f("limits: {connections: \"${EDGE_NOTHING:-3000}\"}", "WARN"+says+"connections=512 configured=3000 ")

	c, err := config.FromFlags(config.Flags{Origin: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if got := lowered(t, c, 1024); !strings.HasPrefix(got, "INFO"+says) {
		t.Errorf("by flags: got %q", got)
	}
}

// What New logs and has in force is by the descriptors of the process.
func TestALowLimitOfDescriptorsIsLogged(t *testing.T) {
	const text = "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [\"http://127.0.0.1:1\"]}}\nlimits: {connections: 10000000}\n"
	c, err := config.Parse("edge.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e, err := New(c, slog.New(slog.NewTextHandler(&log, nil)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop(context.Background())
	want, _ := connectionLimit(c, descriptorLimit())
	if got := strings.Contains(log.String(), "limits.connections is lowered"); got != (want < c.Limits.Connections) || e.connectionLimit != want {
		t.Errorf("limit %d, want %d; log %s", e.connectionLimit, want, log.String())
	}
}
