package admission

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

// The child saves after every round; a round is so many new keys. Its windows
// hold the keys of the last killHeld rounds at least.
const (
	killEnv   = "ADMISSION_TEST_SAVE_TO"
	killKeys  = 500
	killHeld  = 8
	killTries = 50
)

func killOptions() Options {
	o := &FilterOptions{Options: bloom.Options{Generations: 2, Capacity: killHeld * killKeys, FalsePositiveRate: 1e-6}}
	return Options{SecondHit: o, Counting: o}
}

// TestSaveUntilKilled is the child of the test below, and nothing by itself.
func TestSaveUntilKilled(*testing.T) {
	path := os.Getenv(killEnv)
	if path == "" {
		return
	}
	o := kept(killOptions(), path)
	first := uint64(0)
	if st, err := LoadState(path, time.Now()); err == nil {
		o.Restore = st
	} else if !errors.Is(err, fs.ErrNotExist) {
		fmt.Println("load:", err)
		return
	}
	if s := os.Getenv(killEnv + "_FROM"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
	}
	g, err := New(o, time.Now())
	if err != nil {
		fmt.Println("new:", err)
		return
	}
	for round := first; ; round++ {
		sightRound(g, round)
		if err := g.Save(time.Now()); err != nil {
			fmt.Println("save:", err)
			return
		}
		fmt.Println("saved", round)
	}
}

func sightRound(g *Gate, round uint64) {
	for key := round * killKeys; key < (round+1)*killKeys; key++ {
		g.sight(secondHit, key)
		g.sight(more4, key)
		g.filled(secondHit, key, true)
	}
}

// runAndKill starts the child, lets it save a few times, kills it after a moment
// more, and returns the last round it said was saved.
func runAndKill(t *testing.T, r *rand.Rand, path string, first uint64) (last uint64) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestSaveUntilKilled$", "-test.timeout=10m")
	child.Env = append(os.Environ(), killEnv+"="+path, killEnv+"_FROM="+strconv.FormatUint(first, 10))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	saves := r.IntN(4) + 1
	said := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		round, ok := strings.CutPrefix(lines.Text(), "saved ")
		if !ok {
			t.Fatalf("child: %s", lines.Text())
		}
		if last, err = strconv.ParseUint(round, 10, 64); err != nil {
			t.Fatal(err)
		}
		said = true
		if saves--; saves == 0 {
			// At any moment of the next round: the moment is the test.
			time.AfterFunc(time.Duration(r.IntN(8000))*time.Microsecond, func() { _ = child.Process.Kill() })
		}
	}
	if err := child.Wait(); err == nil || !said {
		t.Fatalf("child: got %v after round %d, want it killed after a save", err, last)
	}
	return last
}

// wantWindow finds the last round that the saved state knows, and holds it to
// every key of the rounds before that it must know, and to none of the next.
func wantWindow(t *testing.T, path string, said uint64) (last uint64) {
	t.Helper()
	o := kept(killOptions(), filepath.Join(t.TempDir(), "unused"))
	o.Restore = load(t, path)
	g := newGate(t, o)
	wantProblems(t, g)
	knows := func(key uint64) bool {
		hi, lo := hash(key)
		return g.secondHit.Has(hi, lo)
	}
	last = said
	for knows((last + 1) * killKeys) {
		last++
	}
	if last > said+1 {
		t.Errorf("got round %d in the state, want at most one more than %d", last, said)
	}
	oldest := uint64(0)
	if last >= killHeld {
		oldest = last - killHeld + 1
	}
	for key := oldest * killKeys; key < (last+1)*killKeys; key++ {
		hi, lo := hash(key)
		got := [3]bool{knows(key), g.counting.Estimate(hi, lo) > 0, g.seen.regret.held.Has(hi, lo)}
		if got != [3]bool{true, true, true} {
			t.Fatalf("key %d of round %d: got known to second-hit, counting, regret: %v, want all of rounds %d to %d",
				key, key/killKeys, got, oldest, last)
		}
	}
	unseen := 0
	for key := (last + 1) * killKeys; key < (last+3)*killKeys; key++ {
		if !knows(key) {
			unseen++
		}
	}
	if unseen < 2*killKeys-2 {
		t.Errorf("after round %d: got %d keys of later rounds in the state, want none", last, 2*killKeys-unseen)
	}
	return last
}

// Killed at any moment, a save has happened or has not: the file always is one
// whole state, at least the last one that was reported saved, and the leftovers
// do not add up. Each child goes on from the state that the one before left.
func TestKilledAtAnyMomentTheStateIsWhole(t *testing.T) {
	testkit.Slow(t, "it starts and kills a program fifty times")
	testkit.Plain(t, "the work is in other processes")
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	r := rand.New(rand.NewPCG(5, 6))
	next := uint64(0)
	for range killTries {
		said := runAndKill(t, r, path, next)
		next = wantWindow(t, path, said) + 1
		if files, err := os.ReadDir(dir); err != nil || len(files) > 2 {
			t.Errorf("got %d files, %v, want the state and one leftover at most", len(files), err)
		}
	}
	if next < killHeld*2 {
		t.Errorf("got %d rounds, want rotations between them", next)
	}
}
