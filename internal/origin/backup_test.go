package origin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/internal/origin/balance"
)

// A backup gets what no other server can have: the requests that found none of the others, and all
// while these are out. It gives back the requests with the trial that brings one of them back.
func TestBackupServesWhileTheOthersAreOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		o, k := startClusterOf(t, Options{Metrics: NewMetrics(registry), Settings: Settings{Ejection: ejecting(false)}}, 2, once, once, once)
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "a b a b")
		k.set("a:80", nil)
		k.set("b:80", nil)
		for range 3 {
			wantBody(t, o, get("/"), "ok") // the third try, after two in vain
		}
		wantDialled(t, k, "a b c b a c a b c")
		for range 3 {
			wantBody(t, o, get("/"), "ok")
		}
		wantDialled(t, k, "c c c")
		stats := o.Stats(time.Now())
		if s := stats.Servers; s[0].State != balance.Ejected || s[1].State != balance.Ejected || s[2].State != balance.Up || !s[2].Backup || s[0].Backup {
			t.Errorf("got %+v, want a and b ejected, and c up, a backup", s)
		}
		if n := sample(t, registry, "edgeproxy_origin_backup_requests_total", "app"); n != 6 {
			t.Errorf("counted %v requests for the backup, want 6", n)
		}
		time.Sleep(10 * time.Second)
		k.set("b:80", once)
		for range 4 {
			wantBody(t, o, get("/"), "ok")
		}
		if got := strings.ReplaceAll(k.dialled(), "a c", "a"); strings.Contains(got, "c") || strings.Count(got, "b") < 3 {
			t.Errorf("dialled %q, want b again, and c for the trial of a alone", got)
		}
	})
}

// Three tries found none of several servers, and the client got an error, though the backup was up.
func TestBackupServesWhereThreeTriesFoundNoServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startClusterOf(t, Options{Settings: Settings{Ejection: ejecting(false)}}, 4, nil, nil, nil, nil, once)
		wantBody(t, o, get("/"), "ok")
		if got := k.dialled(); len(strings.Fields(got)) != 4 || !strings.HasSuffix(got, "e") {
			t.Errorf("dialled %q, want three servers, and then the backup", got)
		}
		k.set("e:80", nil)
		_, _, err := fetch(o, get("/"))
		wantKind(t, err, Connect)
		if got := k.dialled(); len(strings.Fields(got)) != 4 {
			t.Errorf("dialled %q, want no more than three servers and the backup", got)
		}
	})
}

// Full is not out: requests wait for a connection and do not go to the backup.
func TestRequestsWaitForFullServersAndNotForTheBackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := func(_ int, p *peer) {
			for p.request() != "" {
				<-release
				p.say(okWire)
			}
		}
		o, k := startClusterOf(t, Options{Settings: Settings{MaxConnections: 1, QueueRequests: 2, QueueWait: time.Second}}, 1, slow, answers)
		done := make(chan error, 3)
		for range 2 {
			go func() { _, _, err := fetch(o, get("/")); done <- err }()
			synctest.Wait()
		}
		if s := o.Stats(time.Now()); s.Waiting != 1 || s.Servers[1].Active != 0 {
			t.Errorf("got %+v, want one request that waits, and nothing for the backup", s)
		}
		time.Sleep(2 * time.Second)
		err := <-done
		wantKind(t, err, Overload)
		if !strings.Contains(err.Error(), "none of the 1 connections became free") {
			t.Errorf("got %v, want the places of the server that is no backup", err)
		}
		release <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantDialled(t, k, "a")
	})
}

// Checks take servers out as well, and those that wait for one go to the backup then.
func TestBackupServesThoseThatWaitForAServerThatGoesDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, k := startClusterOf(t, Options{
			Settings: Settings{MaxConnections: 1, QueueRequests: 2, QueueWait: time.Minute, FirstByteTimeout: time.Hour, Health: Health{Path: "/health", Interval: time.Second, Unhealthy: 1}},
		}, 1, func(_ int, p *peer) {
			if r := p.request(); strings.HasPrefix(r, "GET /health ") {
				p.say("HTTP/1.1 503 Draining\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			}
			p.untilClosed()
		}, answers)
		done := make(chan error, 2)
		for range 2 {
			go func() { _, _, err := fetch(o, get("/")); done <- err }()
			synctest.Wait()
		}
		time.Sleep(3 * time.Second)
		if err := <-done; err != nil {
			t.Errorf("got %v for the one that waited, want the backup's answer", err)
		}
		k.set("a:80", nil)
		o.Close()
	})
}

func TestAllOutAreTriedBackupsToo(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := ejecting(refuse)
			e.Failures = 1
			o, k := startClusterOf(t, Options{Settings: Settings{Ejection: e}}, 1, nil, nil)
			_, _, err := fetch(o, get("/"))
			wantKind(t, err, Connect)
			wantDialled(t, k, "a b b") // the last one once more
			k.set("b:80", once)
			if _, _, err = fetch(o, get("/")); (err == nil) == refuse {
				t.Errorf("refuse %v: got %v", refuse, err)
			}
		})
	}
}
