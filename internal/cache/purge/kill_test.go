package purge_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/test/testkit"
)

const (
	killEnv   = "PURGE_TEST_KEEP_IN"
	killFrom  = "PURGE_TEST_FROM"
	killTries = 12
)

// TestPurgeUntilKilled is the child of the test below, and nothing by itself.
func TestPurgeUntilKilled(*testing.T) {
	dir := os.Getenv(killEnv)
	if dir == "" {
		return
	}
	table, err := purge.Open(purge.Place{Dir: dir}, killOptions())
	if err != nil {
		fmt.Println("open:", err)
		return
	}
	first, _ := strconv.Atoi(os.Getenv(killFrom))
	for i := first; ; i++ {
		purgeNumber(table, i)
		if err := table.Keep(); err != nil {
			fmt.Println("keep:", err)
			return
		}
		fmt.Println("kept", i)
	}
}

// killOptions has so little room that marks fold.
func killOptions() purge.Options { return purge.Options{Tags: 64, URLs: 64, Hosts: 64, Prefixes: 16} }

func purgeNumber(t *purge.Table, i int) {
	switch i % 5 {
	case 0:
		t.URL(at("a", fmt.Sprint("/", i)), false)
	case 1:
		t.Prefix(at("a", fmt.Sprint("/", i, "/")), false)
	case 2:
		t.Host(fmt.Append(nil, "h", i), false)
	case 3:
		t.HostTags([]byte("a"), false, t.HashTag(fmt.Sprint(i)))
	default:
		t.Tag(t.HashTag(fmt.Sprint(i)), false)
	}
}

func checkNumber(t *purge.Table, born uint64, i int) purge.State {
	switch i % 5 {
	case 0:
		return t.Check(born, at("a", fmt.Sprint("/", i)), nil)
	case 1:
		return t.Check(born, at("a", fmt.Sprint("/", i, "/x")), nil)
	case 2:
		return t.Check(born, at(fmt.Sprint("h", i), "/"), nil)
	case 3:
		return t.Check(born, at("a", "/"), []uint64{t.HashTag(fmt.Sprint(i))})
	default:
		return t.Check(born, at("b", "/"), []uint64{t.HashTag(fmt.Sprint(i))})
	}
}

// TestWhatWasKeptSurvivesKill kills a process that purges, again and again, and asks what it said
// was kept.
func TestWhatWasKeptSurvivesKill(t *testing.T) {
	testkit.Slow(t, "starts a program again and again")
	dir := t.TempDir()
	table, err := purge.Open(purge.Place{Dir: dir}, killOptions())
	if err != nil {
		t.Fatal(err)
	}
	born, stored := table.Now(), table.Identity()
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	r, kept := rand.New(rand.NewPCG(1, 1)), 0
	for range killTries {
		kept = runAndKill(t, dir, kept, 1+r.IntN(120))
		table, said := open(t, image(t, dir), killOptions())
		if !table.Identity().Knows(stored) {
			t.Fatalf("got another history: %s", said)
		}
		for i := range kept {
			if got := checkNumber(table, born, i); got != purge.Gone {
				t.Fatalf("purge %d of the %d that were kept: got %v, want %v", i, kept, got, purge.Gone)
			}
		}
	}
}

// runAndKill starts the child, kills it when it has said of so many purges that they are kept,
// and returns how many purges are.
func runAndKill(t *testing.T, dir string, first, count int) (kept int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestPurgeUntilKilled$", "-test.timeout=60s")
	child.Env = append(os.Environ(), killEnv+"="+dir, killFrom+"="+strconv.Itoa(first))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	kept = first
	for lines.Scan() {
		number, ok := strings.CutPrefix(lines.Text(), "kept ")
		if !ok {
			t.Fatalf("the child said %q", lines.Text())
		}
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		kept = i + 1
		if kept == first+count {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait() // it was killed
	if kept < first+count {
		t.Fatalf("got %d purges of the child, want %d: it ended by itself", kept-first, count)
	}
	return kept
}
