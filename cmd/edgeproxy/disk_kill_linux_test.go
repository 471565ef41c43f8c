package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	killObjects  = 160
	killMaxBytes = 16 << 20 // less than all objects take
	killClients  = 4
)

// killPath names an object: most are small, some are long, and a few are longer than memory takes.
func killPath(i int) string {
	size := 150 + i*37
	switch {
	case i%40 == 0:
		size = 1_500_000 + i*1000
	case i%8 == 0:
		size = 400_000 + i*1000
	case i%4 == 0:
		size = 33_000 + i*100
	}
	return fmt.Sprintf("/%d/%d", i, size)
}

// killing is a proxy that is killed under load, again and again, and what has to hold all the while.
type killing struct {
	t      *testing.T
	origin *digestOrigin
	file   string
	folder string
	mu     sync.Mutex                // for writers of floor
	floor  [killObjects]atomic.Int64 // the number that answers for an object have to be above, since it was purged
	served atomic.Int64
	hits   atomic.Int64
	purged atomic.Int64
}

// ask asks for an object and checks what comes back whole. A request that a kill has ended says nothing.
func (k *killing) ask(c *http.Client, address string, i int) error {
	floor := k.floor[i].Load() // before: a purge that was answered by now counts
	req, err := http.NewRequest(http.MethodGet, "http://"+address+killPath(i), nil)
	if err != nil {
		return err
	}
	req.Host = diskHost
	res, err := c.Do(req)
	if err != nil {
		return nil //nolint:nilerr // killed
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil //nolint:nilerr // killed, or the origin was cut
	}
	k.served.Add(1)
	if strings.HasPrefix(res.Header.Get("Cache-Status"), "edgeproxy; hit") {
		k.hits.Add(1)
	}
	number, err := digestIn(killPath(i), body)
	if err != nil {
		err = fmt.Errorf("%w (%s)", err, res.Header.Get("Cache-Status"))
	}
	if err == nil && number <= floor {
		err = fmt.Errorf("%s: got response %d, and all up to %d were purged (%s)", killPath(i), number, floor, res.Header.Get("Cache-Status"))
	}
	return err
}

// purge purges an object, by its URL or by its tag with all others, and notes what must not come back.
func (k *killing) purge(c *http.Client, admin string, i int) {
	latest := k.origin.number.Load()
	order := fmt.Sprintf(`{"url": "http://%s%s"}`, diskHost, killPath(i))
	all := i%16 == 3
	if all {
		order = `{"tag": "all"}`
	}
	res, err := c.Post("http://"+admin+"/purge", "application/json", strings.NewReader(order))
	if err != nil {
		return
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		return
	}
	k.purged.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	for j := range k.floor {
		if all || j == i {
			k.floor[j].Store(max(k.floor[j].Load(), latest))
		}
	}
}

// round starts the proxy, looks at what it has, loads it for a while and kills it.
func (k *killing) round(n int) {
	k.t.Helper()
	s := serveBinary(k.t, "-c", k.file)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: killClients}, Timeout: patience}
	defer client.CloseIdleConnections()
	for i := range killObjects / 4 {
		if err := k.ask(client, s.address, (4*i+n)%killObjects); err != nil {
			k.t.Errorf("after kill %d: %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(k.t.Context())
	var load sync.WaitGroup
	for range killClients {
		load.Go(func() {
			for ctx.Err() == nil {
				if err := k.ask(client, s.address, rand.IntN(killObjects)); err != nil {
					k.t.Errorf("before kill %d: %v", n+1, err)
				}
				if rand.IntN(16) == 0 {
					k.purge(client, s.admin, rand.IntN(killObjects))
				}
			}
		})
	}
	moment := time.NewTimer(time.Duration(50+rand.IntN(350)) * time.Millisecond)
	<-moment.C
	if err := s.cmd.Process.Kill(); err != nil {
		k.t.Error(err)
	}
	<-s.ended
	cancel()
	load.Wait()
	if got := bytesOnDisk(k.t, k.folder); got > killMaxBytes {
		k.t.Errorf("after kill %d the directory takes %d bytes, want at most %d", n+1, got, killMaxBytes)
	}
}

// bytesOnDisk is what the disk tier takes in folder, without the purges.
func bytesOnDisk(t *testing.T, folder string) (sum int64) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		sum += info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	return sum
}

// usualKills is how often the proxy is killed, within killTime if that can be; make kill-disk N=100 kills it as often as it says.
const (
	usualKills = 20
	leastKills = 3
	killTime   = 20 * time.Second
)

// kills returns how often the proxy is killed, and until when.
func kills(t *testing.T) (n int, within time.Duration) {
	t.Helper()
	text := os.Getenv("EDGEPROXY_KILLS")
	if text == "" {
		return usualKills, killTime
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("EDGEPROXY_KILLS: %v", err)
	}
	return n, 24 * time.Hour
}

// TestNothingWrongIsServedAfterAKill kills the proxy under load. Whatever is served is byte for byte what the origin has sent, nothing
// that was purged comes back, and the bound holds.
func TestNothingWrongIsServedAfterAKill(t *testing.T) {
	t.Parallel()
	k := &killing{t: t, origin: newDigestOrigin(t), folder: filepath.Join(t.TempDir(), "cache")}
	k.file = diskFile(t, k.origin.url, k.folder, "max_bytes: "+strconv.Itoa(killMaxBytes)+"B")
	most, within := kills(t)
	began, done := time.Now(), 0
	for done < most && (done < leastKills || time.Since(began) < within) {
		k.round(done)
		done++
	}
	t.Logf("%d kills: %d served, %d of them hits, %d purges, %d fetches", done, k.served.Load(), k.hits.Load(), k.purged.Load(), k.origin.number.Load())
	if k.hits.Load() == 0 || k.purged.Load() == 0 {
		t.Error("want hits and purges: without them nothing was tested")
	}
	if got := runBinary(t, "cache", "verify", "--dir", k.folder); got.code != exitDone {
		t.Errorf("verify: %+v", got)
	}
}
