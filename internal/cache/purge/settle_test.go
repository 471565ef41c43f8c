package purge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// stored is a response that a cache of these tests holds, by the words of the model.
type stored struct {
	born uint64
	url  purge.URL
	tags []string
}

// TestSettledMarksPurgeNothingElse: a cache that settles whenever there is little room keeps
// just what the model keeps, which remembers every purge, however many there are and
// however small the tables.
func TestSettledMarksPurgeNothingElse(t *testing.T) {
	const seeds, steps = 4, 1000
	for seed := range uint64(seeds) {
		w := world{rand.New(rand.NewPCG(seed, 7))}
		table := purge.New(purge.Options{Tags: 64, URLs: 64, Hosts: 16, Prefixes: 16})
		var model naive
		var held []stored
		hashes := func(s *stored) []uint64 { return []uint64{table.HashTag(s.tags[0]), table.HashTag(s.tags[1])} }
		sweeps := 0
		table.WhenCrowded(func(bool) {
			sweeps++
			upTo := table.Now()
			rest := held[:0]
			for _, s := range held {
				switch table.Check(s.born, s.url, hashes(&s)) {
				case purge.Gone:
					continue
				case purge.Stale:
					continue // a soft purge counts like a hard one here
				case purge.Valid:
				}
				rest = append(rest, s)
			}
			held = rest
			table.Settle(upTo)
		})
		for range steps {
			if s := (stored{born: table.Now(), url: w.url(), tags: []string{w.tag(), w.tag()}}); s.born >= table.Settled() {
				held = append(held, s)
			}
			p := w.purge()
			if p.kind == "all" || p.kind == "host" { // or nothing would be left to compare
				p.kind = "url"
			}
			p.tag = fmt.Sprint(p.tag, w.IntN(100))
			model = append(model, p)
			p.do(table)
			for range 5 {
				s := held[w.IntN(len(held))]
				want, got := model.check(s.born, s.url, s.tags), table.Check(s.born, s.url, hashes(&s))
				if got != want {
					t.Fatalf("seed %d, after %d purges and %d sweeps: %+v: got %v, want %v", seed, len(model), sweeps, s, got, want)
				}
			}
			if len(held) > 500 {
				held = held[250:]
			}
		}
		if stats := table.Stats(); sweeps < 10 || stats.Folded > 0 {
			t.Errorf("seed %d: got %d sweeps and %+v, want many and nothing folded", seed, sweeps, stats)
		}
	}
}

// A response that is older than the marks that are gone may have been purged by one of them.
func TestSettledSaysWhatMayNotBeStored(t *testing.T) {
	table := purge.New(purge.Options{})
	for i := range 10 {
		table.URL(at("a", fmt.Sprint("/", i)), i%2 == 0)
		table.Tag(uint64(i)+1, false)
		table.Host(fmt.Append(nil, "h", i), false)
		table.Prefix(at("a", fmt.Sprint("/p", i, "/")), false)
	}
	table.All(true)
	between := table.Now()
	table.URL(at("a", "/later"), false)
	table.Settle(between)
	if got := table.Settled(); got != between {
		t.Errorf("got settled %d, want %d", got, between)
	}
	f := func(born uint64, target string, want purge.State) {
		t.Helper()
		if got := table.Check(born, at("a", target), []uint64{1}); got != want {
			t.Errorf("%s born %d: got %v, want %v", target, born, got, want)
		}
	}
	f(0, "/1", purge.Valid)
	f(0, "/p1/x", purge.Valid)
	f(0, "/later", purge.Gone)
	if got, want := table.Stats(), (purge.Stats{URLs: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	table.Settle(between - 1) // late
	if got := table.Settled(); got != between {
		t.Errorf("after a late one: got settled %d, want %d", got, between)
	}
}

func TestCrowdedIsSaidOfEveryKind(t *testing.T) {
	for kind, mark := range map[string]func(*purge.Table, int){
		"tag":    func(t *purge.Table, i int) { t.Tag(uint64(i)+1, false) },
		"url":    func(t *purge.Table, i int) { t.URL(at("a", fmt.Sprint("/", i)), false) },
		"host":   func(t *purge.Table, i int) { t.Host(fmt.Append(nil, i), false) },
		"prefix": func(t *purge.Table, i int) { t.Prefix(at("a", fmt.Sprint("/", i, "/")), false) },
	} {
		table := purge.New(purge.Options{Tags: 8, URLs: 8, Hosts: 8, Prefixes: 8})
		said := map[bool]int{}
		table.WhenCrowded(func(full bool) { said[full]++ })
		for i := range 8 {
			mark(table, i)
		}
		if said[false] != 4 || said[true] != 1 {
			t.Errorf("%s: got %v, want it said of the last 5 of 8 marks, and of the last that there is no room", kind, said)
		}
	}
}

// Marks of URL fold where there is no room, and purge others. Those of TryURL are refused first, and the refusal asks for a sweep.
func TestTryURLNeverFolds(t *testing.T) {
	table := purge.New(purge.Options{URLs: 64})
	asked := 0
	table.WhenCrowded(func(bool) { asked++ })
	marked := 0
	for i := range 1000 {
		if table.TryURL(at("a", fmt.Sprint("/", i))) {
			marked++
			if !table.TryURL(at("a", fmt.Sprint("/", i))) {
				t.Fatal("a mark that is there was not raised")
			}
		} else if asked == 0 {
			t.Fatal("was refused, and nobody asked for a sweep")
		}
	}
	if s := table.Stats(); s.Folded > 0 || s.URLs != marked || marked > 48 || marked < 32 {
		t.Errorf("got %+v and %d marks, want most of the room used and nothing folded", s, marked)
	}
	for i := range 1000 {
		if table.Check(0, at("b", fmt.Sprint("/", i)), nil) != purge.Valid {
			t.Error("another URL was purged")
		}
	}
}
