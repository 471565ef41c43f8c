package purge_test

import (
	"fmt"
	"testing"

	"edgeproxy/internal/cache/purge"
)

// at returns the URL of a host and target.
func at(host, target string) purge.URL {
	return purge.URL{Scheme: "http", Host: []byte(host), Target: []byte(target)}
}

// purges are one purge of each kind that reaches http://a/img/logo.png with the
// tag "red", by name.
func purges() map[string]func(t *purge.Table, soft bool) {
	return map[string]func(*purge.Table, bool){
		"all":    (*purge.Table).All,
		"host":   func(t *purge.Table, soft bool) { t.Host([]byte("a"), soft) },
		"prefix": func(t *purge.Table, soft bool) { t.Prefix(at("a", "/img/l"), soft) },
		"url":    func(t *purge.Table, soft bool) { t.URL(at("a", "/img/logo.png"), soft) },
		"tag":    func(t *purge.Table, soft bool) { t.Tag(t.HashTag("red"), soft) },
		"tag of the host": func(t *purge.Table, soft bool) {
			t.HostTags([]byte("a"), soft, t.HashTag("other"), t.HashTag("red"))
		},
		"group": func(t *purge.Table, soft bool) { t.Tag(t.HashGroup("http", []byte("a"), "red"), soft) },
	}
}

func check(t *purge.Table, born uint64) purge.State {
	tags := []uint64{t.HashTag("blue"), t.HashTag("red"), t.HashGroup("http", []byte("a"), "red")}
	return t.Check(born, at("a", "/img/logo.png"), tags)
}

func TestNothingIsPurgedAtFirst(t *testing.T) {
	if got := check(purge.New(purge.Options{}), 0); got != purge.Valid {
		t.Errorf("got %v, want %v", got, purge.Valid)
	}
}

func TestPurgeReachesWhatIsOlderAndNothingYounger(t *testing.T) {
	for name, mark := range purges() {
		for _, soft := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s soft=%v", name, soft), func(t *testing.T) {
				table := purge.New(purge.Options{})
				before := table.Now()
				mark(table, soft)
				want := purge.Gone
				if soft {
					want = purge.Stale
				}
				if got := check(table, before); got != want {
					t.Errorf("born before: got %v, want %v", got, want)
				}
				if got := check(table, table.Now()); got != purge.Valid {
					t.Errorf("born after: got %v, want %v", got, purge.Valid)
				}
				table.Tag(table.HashTag("another"), false)
				if got := check(table, before); got != want {
					t.Errorf("after a purge of something else: got %v, want %v", got, want)
				}
			})
		}
	}
}

// A soft purge must not bring back what a hard one took, nor the other way round
// leave stale what came between.
func TestHardAndSoftPurgesAddUp(t *testing.T) {
	for first, one := range purges() {
		for second, other := range purges() {
			f := func(softFirst bool, oldest, between purge.State) {
				t.Helper()
				table := purge.New(purge.Options{})
				one(table, softFirst)
				middle := table.Now()
				other(table, !softFirst)
				if got := check(table, 0); got != oldest {
					t.Errorf("%s soft=%v, then %s: the oldest: got %v, want %v", first, softFirst, second, got, oldest)
				}
				if got := check(table, middle); got != between {
					t.Errorf("%s soft=%v, then %s: born between: got %v, want %v", first, softFirst, second, got, between)
				}
			}

			f(false, purge.Gone, purge.Stale)
			f(true, purge.Gone, purge.Gone)
		}
	}
}

func TestPurgeLeavesTheRestAlone(t *testing.T) {
	f := func(name string, mark func(*purge.Table), u purge.URL, tags ...string) {
		t.Helper()
		table := purge.New(purge.Options{})
		mark(table)
		var hashes []uint64
		for _, tag := range tags {
			hashes = append(hashes, table.HashTag(tag))
		}
		if got := table.Check(0, u, hashes); got != purge.Valid {
			t.Errorf("%s: %s %s: got %v, want %v", name, u.Host, u.Target, got, purge.Valid)
		}
	}
	host := func(t *purge.Table) { t.Host([]byte("a"), false) }
	prefix := func(t *purge.Table) { t.Prefix(at("a", "/img/"), false) }
	url := func(t *purge.Table) { t.URL(at("a", "/x?y"), false) }
	tag := func(t *purge.Table) { t.Tag(t.HashTag("red"), false) }
	secure := func(u purge.URL) purge.URL { u.Scheme = "https"; return u }

	f("host", host, at("b", "/"))
	f("host", host, at("a:81", "/"))
	f("host", host, at("aa", "/"))
	f("prefix", prefix, at("a", "/img"))
	f("prefix", prefix, at("a", "/imh/x"))
	f("prefix", prefix, at("a", "/"))
	f("prefix", prefix, at("b", "/img/x"))
	f("prefix", prefix, secure(at("a", "/img/x")))
	f("url", url, at("a", "/x"))
	f("url", url, at("a", "/x?y="))
	f("url", url, at("b", "/x?y"))
	f("url", url, secure(at("a", "/x?y")))
	f("tag", tag, at("a", "/"), "Red", "re", "reds", "")
	f("tag", tag, at("a", "/"))
}

func TestHostIsPurgedUnderEveryScheme(t *testing.T) {
	table := purge.New(purge.Options{})
	table.Host([]byte("a"), false)
	u := at("a", "/x")
	u.Scheme = "https"
	if got := table.Check(0, u, nil); got != purge.Gone {
		t.Errorf("got %v, want %v", got, purge.Gone)
	}
}

func TestCallersKeepTheirBytes(t *testing.T) {
	table := purge.New(purge.Options{})
	host, target := []byte("a"), []byte("/img/")
	table.Prefix(purge.URL{Scheme: "http", Host: host, Target: target}, false)
	copy(target, "/xxx/")
	if got := table.Check(0, at("a", "/img/1"), nil); got != purge.Gone {
		t.Errorf("after the caller wrote over its prefix: got %v, want %v", got, purge.Gone)
	}
}

// step is a moment in the life of a response.
type step int

const (
	beforeFetch step = iota
	whileFetching
	beforeStore
	whileStoring
	afterStore
	never
)

// A purge wins against a fetch that began before it, whenever it comes. Storing
// asks and then lands; only the next hit can see a purge between the two.
func TestPurgeWinsAtEveryStepOfAFetch(t *testing.T) {
	f := func(when step, wantStored bool, wantHit purge.State) {
		t.Helper()
		for name, mark := range purges() {
			table := purge.New(purge.Options{})
			reach := func(now step) {
				if now == when {
					mark(table, false)
				}
			}
			reach(beforeFetch)
			born := table.Now()
			reach(whileFetching)
			reach(beforeStore)
			stored := check(table, born) == purge.Valid
			reach(whileStoring)
			reach(afterStore)
			if stored != wantStored {
				t.Errorf("%s at step %d: stored: got %v, want %v", name, when, stored, wantStored)
			}
			if got := check(table, born); got != wantHit {
				t.Errorf("%s at step %d: the next hit: got %v, want %v", name, when, got, wantHit)
			}
		}
	}

	f(beforeFetch, true, purge.Valid)
	f(whileFetching, false, purge.Gone)
	f(beforeStore, false, purge.Gone)
	f(whileStoring, true, purge.Gone)
	f(afterStore, true, purge.Gone)
	f(never, true, purge.Valid)
}

func TestStatsCountWhatIsHeld(t *testing.T) {
	table := purge.New(purge.Options{})
	for range 2 { // the second time renews the marks
		for _, mark := range purges() {
			mark(table, false)
		}
	}
	want := purge.Stats{Tags: 2 + 3, URLs: 1, Hosts: 1, Prefixes: 1}
	if got := table.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOptionsThatCannotBePanic(t *testing.T) {
	for _, o := range []purge.Options{{Tags: -1}, {URLs: -1}, {Hosts: 1<<24 + 1}, {Prefixes: -5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: got no panic, want one", o)
				}
			}()
			purge.New(o)
		}()
	}
}

func TestStateHasAWord(t *testing.T) {
	for state, want := range map[purge.State]string{purge.Valid: "valid", purge.Stale: "stale", purge.Gone: "gone", 7: "unknown"} {
		if got := state.String(); got != want {
			t.Errorf("state %d: got %q, want %q", state, got, want)
		}
	}
}

// All marks of one purge have one generation, soft or not.
func TestOnePurgeOfSeveralURLs(t *testing.T) {
	table := purge.New(purge.Options{})
	table.URL(at("a", "/1"), false, at("a", "/2"))
	table.Prefix(at("a", "/3?"), true, at("a", "/4"))
	if got := table.Now(); got != 2 {
		t.Errorf("got generation %d, want 2", got)
	}
	for target, want := range map[string]purge.State{
		"/1": purge.Gone, "/2": purge.Gone, "/3?x": purge.Stale, "/4": purge.Stale, "/4?x": purge.Valid,
	} {
		if got := table.Check(0, at("a", target), nil); got != want {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
}
