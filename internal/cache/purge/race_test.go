package purge_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// Purgers in tiny tables fold each other's marks all the time. Each, once its
// purge has returned, must find it, now and later.
func TestPurgedStaysPurgedBesideOthers(t *testing.T) {
	const purgers, rounds, remembered = 4, 1000, 8
	table := purge.New(purge.Options{Tags: 1, URLs: 1, Hosts: 1, Prefixes: 2})
	type victim struct {
		born uint64
		url  purge.URL
		tags []uint64
	}
	var all sync.WaitGroup
	for id := range purgers {
		all.Go(func() {
			var past [remembered]victim
			for i := range rounds {
				v := victim{
					born: table.Now(),
					url:  at(fmt.Sprintf("h%d-%d", id, i%16), fmt.Sprintf("/%d/%d", id, i)),
					tags: []uint64{uint64(id*rounds + i + 1)},
				}
				switch i % 4 {
				case 0:
					table.Tag(v.tags[0], false)
				case 1:
					table.URL(v.url, false)
				case 2:
					table.Host(v.url.Host, false)
				case 3:
					table.Prefix(v.url, false)
				}
				past[i%remembered] = v
				for _, p := range past[:min(i+1, remembered)] {
					if got := table.Check(p.born, p.url, p.tags); got != purge.Gone {
						t.Errorf("%s%s born %d, after %d purges: got %v, want %v", p.url.Host, p.url.Target, p.born, table.Now(), got, purge.Gone)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if got := table.Now(); got != purgers*rounds {
		t.Errorf("got generation %d, want %d: one for each purge", got, purgers*rounds)
	}
}

// A prefix that has no room moves to its host. A look-up at that moment finds it in one
// place or the other.
func TestPrefixIsNeverLostOnItsWayToTheHost(t *testing.T) {
	const rounds = 5000
	type victim struct {
		born uint64
		url  purge.URL
	}
	table := purge.New(purge.Options{Prefixes: 1})
	var latest atomic.Pointer[victim]
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		defer close(done)
		for i := range rounds {
			v := &victim{born: table.Now(), url: at(fmt.Sprint("h", i), "/a")}
			table.Prefix(v.url, false)
			latest.Store(v)
			table.Prefix(at("another", "/a"), false) // the victim has to go
		}
	})
	for asked, running := 0, true; running || asked == 0; {
		select {
		case <-done:
			running = false
		default:
		}
		if v := latest.Load(); v != nil {
			asked++
			if got := table.Check(v.born, v.url, nil); got != purge.Gone {
				t.Errorf("%s born %d, at most %d purges later: got %v, want %v", v.url.Host, v.born, table.Now()-v.born, got, purge.Gone)
				break
			}
		}
	}
	writer.Wait()
}
