package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

const (
	soakMaxBytes = 32 << 20
	soakInflight = 16 << 20
	soakBody     = 1000
	soakFixed    = 10 << 20 // tables of fixed size, buffers of connections, code that has started
)

// TestManyKeysLeaveMemoryBounded is the short form of TestMillionKeys.
func TestManyKeysLeaveMemoryBounded(t *testing.T) {
	testkit.Slow(t, "it loads the program")
	testkit.Plain(t, "it loads the built program")
	t.Parallel()
	manyKeys(t, 100_000, 2)
}

// TestManyKeysStayBelowTheLimitOfMemory: how far the heap grows between two collections depends on how busy the machine is.
func TestManyKeysStayBelowTheLimitOfMemory(t *testing.T) {
	testkit.Alone(t, "the collector may come late on a machine that is busy")
	testkit.Slow(t, "it loads the program")
	testkit.Plain(t, "it loads the built program")
	peakBelowLimit(t, manyKeys(t, 100_000, 2))
}

// manyKeys asks for n distinct keys, one of every few twice, so that more is stored
// than the cache holds, and looks at what the program then takes. A tenth of them
// cannot be stored, and is marked; a tenth has a variant.
func manyKeys(t *testing.T, n, every int) *server {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("memory is read from /proc")
	}
	// The filter holds all keys, so that none is forgotten before it is asked for again.
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0", pprof: true}
origins: {app: {servers: [%q]}}
admission: {second_hit: {capacity: %d}}
cache: {memory: {max_bytes: %dB, max_object_bytes: 1MiB}}
limits: {inflight_bytes: %dB}
`, keysOrigin(t), n, soakMaxBytes, soakInflight)))
	begun := time.Now()
	askKeys(t, s.address, n, every)
	took := time.Since(begun)

	metrics := s.metricsAtRest()
	filters := metric(t, metrics, `edgeproxy_filter_bytes{filter="second_hit"}`)
	if want := filterArithmetic(n); filters < want || filters > want*102/100 {
		t.Errorf("filter bytes: got %d, want %d and at most 2 %% more, for the rate's reserve", filters, want)
	}
	keys := metric(t, metrics, `edgeproxy_filter_window_keys{filter="second_hit"}`)
	if keys < int64(n)*97/100 || keys > int64(n)*101/100 {
		t.Errorf("keys in the window: got %d, want about %d", keys, n)
	}
	held := metric(t, metrics, `edgeproxy_cache_bytes{tier="memory"}`)
	if held > soakMaxBytes || held < soakMaxBytes/2 {
		t.Errorf("cache bytes: got %d, want at most %d, and a cache that is in use", held, soakMaxBytes)
	}
	writes := metric(t, metrics, `edgeproxy_cache_writes_total{tier="memory"}`)
	if want := int64(n/every) * 9 / 10; writes < want*97/100 {
		t.Errorf("got %d writes, want %d or so: the second sighting stores", writes, want)
	}
	_, _ = get(t, "http://"+s.admin+"/debug/pprof/heap?gc=1") // collects what nothing needs any more
	metrics = s.metricsAtRest()
	live := metric(t, metrics, "go_memstats_heap_alloc_bytes")
	if most := soakMaxBytes*13/10 + filters + soakFixed; live > most {
		t.Errorf("the live heap takes %d MiB, want at most %d MiB", live>>20, most>>20)
	}
	t.Logf("%d keys in %v: live heap %d MiB, cache %d of %d MiB, filters %d KiB, %d writes",
		n, took.Round(time.Millisecond), live>>20, held>>20, soakMaxBytes>>20, filters>>10, writes)
	return s
}

// peakBelowLimit compares the most memory that the program has had with what it allows itself. The pages of the program's own
// file are the system's to take back.
func peakBelowLimit(t *testing.T, s *server) {
	t.Helper()
	limit := metric(t, s.metricsAtRest(), "go_gc_gomemlimit_bytes")
	peak := processMemory(t, s.cmd.Process.Pid, "VmHWM") - processMemory(t, s.cmd.Process.Pid, "RssFile")
	if peak > limit {
		t.Errorf("resident memory had its peak at %d MiB, want at most the %d MiB that the program allows itself", peak>>20, limit>>20)
	}
	t.Logf("peak %d MiB of %d allowed", peak>>20, limit>>20)
}

// filterArithmetic is the memory of the default window for n keys: two generations
// of split blocks of 32 bytes, for a rate of 0.01 over both.
func filterArithmetic(n int) int64 {
	return 2 * 32 * int64(bloom.BlockSize(uint64(n), bloom.GenerationRate(0.01, 2)))
}

// keysOrigin answers /N: nine of ten responses are storable, one of these nine has Vary.
func keysOrigin(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), soakBody)
	s := &fasthttp.Server{NoDefaultServerHeader: true, Handler: func(ctx *fasthttp.RequestCtx) {
		switch path := ctx.Path(); path[len(path)-1] {
		case '0':
			ctx.Response.Header.Set("Cache-Control", "no-store")
		case '1':
			ctx.Response.Header.Set("Vary", "Accept-Encoding")
			ctx.Response.Header.Set("Cache-Control", "max-age=3600")
		default:
			ctx.Response.Header.Set("Cache-Control", "max-age=3600")
		}
		ctx.Response.SetBodyRaw(body)
	}}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return "http://" + l.Addr().String()
}

// askKeys asks for the keys over some connections, in pipelined batches.
func askKeys(t *testing.T, address string, n, every int) {
	t.Helper()
	const clients = 64
	errs := make([]error, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() { errs[c] = askShare(address, n*c/clients, n*(c+1)/clients, every) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// askShare asks for the keys from first to end in batches, for one batch of every
// few twice.
func askShare(address string, first, end, every int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	in := bufio.NewReaderSize(conn, 64<<10)
	for number := 0; first < end; number++ {
		last := min(first+100, end)
		rounds := 1
		if number%every == 0 {
			rounds = 2
		}
		for range rounds {
			var batch []byte
			for k := first; k < last; k++ {
				batch = fmt.Appendf(batch, "GET /key/%d HTTP/1.1\r\nHost: soak.test\r\n\r\n", k)
			}
			if _, err := conn.Write(batch); err != nil {
				return err
			}
			for k := first; k < last; k++ {
				if err := skipAnswer(in); err != nil {
					return fmt.Errorf("key %d: %w", k, err)
				}
			}
		}
		first = last
	}
	return nil
}

// skipAnswer reads one whole answer, which must be a 200.
func skipAnswer(in *bufio.Reader) error {
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("got %q, want 200", line)
		}
		if len(line) == len("\r\n") {
			break
		}
	}
	_, err := io.CopyN(io.Discard, in, soakBody)
	return err
}

// metric returns the value of the sample with this name and these labels.
func metric(t *testing.T, text, sample string) int64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+sample+" ")
	if !ok {
		t.Fatalf("no metric %s", sample)
	}
	line, _, _ := strings.Cut(rest, "\n")
	v, err := strconv.ParseFloat(line, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(v)
}

// processMemory returns a line of the process's status, in bytes.
func processMemory(t *testing.T, pid int, line string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), line+":")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil || !ok {
		t.Fatalf("%s: %v", line, err)
	}
	return kib << 10
}
