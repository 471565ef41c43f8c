package testkit

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Collector is the OTLP receiver of the OpenTelemetry collector, in a process of its own: tools/collector.
type Collector struct {
	Endpoint string // its URL
	tb       testing.TB

	mu    sync.Mutex
	spans []Span
	wrong error
}

// StartCollector runs one until the end of the test. The program is built from tools/collector.
func StartCollector(tb testing.TB) *Collector {
	tb.Helper()
	Slow(tb, "it builds and starts the collector of OpenTelemetry")
	program := filepath.Join(tb.TempDir(), "collector")
	if err := build(filepath.Join(toolsFolder(tb), "collector"), "collector", ".", program); err != nil {
		tb.Fatal(err)
	}
	at := QuietAddress(tb)
	c := &Collector{Endpoint: "http://" + at, tb: tb}
	cmd, said := exec.Command(program, at), &bytes.Buffer{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	read := make(chan struct{})
	go func() { defer close(read); c.read(out) }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
	})
	if !ComesTrue(func() bool {
		conn, err := net.DialTimeout("tcp", at, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}) {
		tb.Fatalf("the collector does not listen:\n%s", said)
	}
	return c
}

// Await returns the spans once there are this many or more.
func (c *Collector) Await(n int) []Span {
	c.tb.Helper()
	var (
		got   []Span
		wrong error
	)
	ComesTrue(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		got, wrong = append([]Span(nil), c.spans...), c.wrong
		return wrong != nil || len(got) >= n
	})
	if wrong != nil || len(got) < n {
		c.tb.Fatalf("got %d spans and %v, want %d: %+v", len(got), wrong, n, got)
	}
	return got
}

// read takes what the collector prints.
func (c *Collector) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		request, err := base64.StdEncoding.DecodeString(lines.Text())
		var spans []Span
		if err == nil {
			spans, err = DecodeSpans(request)
		}
		c.mu.Lock()
		if err != nil {
			c.wrong = err
		}
		c.spans = append(c.spans, spans...)
		c.mu.Unlock()
	}
}
