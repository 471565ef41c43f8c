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

func TestALowLimitOfDescriptorsIsLogged(t *testing.T) {
	const text = "listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\norigins: {app: {servers: [\"http://127.0.0.1:1\"]}}\nlimits: {connections: "
	f := func(connections string, want bool) {
		t.Helper()
		c, err := config.Parse("edge.yaml", []byte(text+connections+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		e, err := New(c, slog.New(slog.NewTextHandler(&log, nil)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Stop(context.Background())
		if got := strings.Contains(log.String(), "limits.connections is lowered"); got != want || (e.connectionLimit < c.Limits.Connections) != want {
			t.Errorf("%s: limit %d, log %s", connections, e.connectionLimit, log.String())
		}
	}
	f("10", false)
	if descriptorLimit() < 10_000_000 {
		f("10000000", true)
	}
}
