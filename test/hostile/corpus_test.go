package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// minCases is how many blocks the corpus has at least; what a block stands for
// counts once.
const minCases = 150

// corpus reads every case.
func corpus(tb testing.TB) []*hostileCase {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []*hostileCase
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		cases, err := parse(string(text))
		if err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		room := strings.TrimSuffix(filepath.Base(file), ".txt") + "/"
		for _, c := range cases {
			c.block, c.name = room+c.block, room+c.name
			if names[c.name] {
				tb.Fatalf("%s: there are two", c.name)
			}
			names[c.name] = true
		}
		out = append(out, cases...)
	}
	return out
}

func TestCorpusIsWhole(t *testing.T) {
	blocks := map[string]bool{}
	for _, c := range corpus(t) {
		blocks[c.block] = true
	}
	if len(blocks) < minCases {
		t.Errorf("got %d cases, want at least %d: some are lost", len(blocks), minCases)
	}
}

// TestCorpus plays every case before an edge of this process. The quick run plays an eighth of those that have no limits of time.
func TestCorpus(t *testing.T) {
	t.Parallel()
	playAll(t, inProcess)
}

// fleet is how many edges with the same limits of time are at work together. Before short
// ones, cases mostly wait.
type fleet struct {
	limit time.Duration
	rigs  int
}

// playAll plays all cases, each alone and, if something can follow, in line, both ways.
func playAll(t *testing.T, start func(tb testing.TB, limit time.Duration) *rig) {
	t.Helper()
	cases := corpus(t)
	var playing sync.WaitGroup
	fleets, every := []fleet{{0, 3}, {shortly, 8}, {later, 4}}, 1
	if testing.Short() {
		fleets, every = fleets[:1], 8
	}
	for _, f := range fleets {
		todo := make(chan *hostileCase)
		for range f.rigs {
			r := start(t, f.limit)
			playing.Go(func() {
				for c := range todo {
					r.test(t, c)
				}
			})
		}
		playing.Go(func() {
			defer close(todo)
			for i, c := range cases {
				if c.limit == f.limit && i%every == 0 {
					todo <- c
				}
			}
		})
	}
	playing.Wait()
}

// test plays c. Where bodies are read ahead the origin must see nothing of a broken one, and
// a client that waits with half a body for what the origin says of it waits in vain.
func (r *rig) test(t *testing.T, c *hostileCase) {
	t.Helper()
	if half := slices.ContainsFunc(c.seen, isPart); half && r.ahead && c.sends() < readAhead {
		if c.early || slices.ContainsFunc(c.client, func(s step) bool { return s.verb == "await-origin" }) {
			return
		}
		alike := *c
		alike.seen = slices.DeleteFunc(slices.Clone(c.seen), isPart)
		c = &alike
	}
	t.Run(c.name, func(t *testing.T) {
		if err := r.try(c, alone); err != nil {
			t.Errorf("alone: %v", err)
		}
		if c.last {
			return
		}
		if err := r.try(c, inLine); err != nil {
			t.Errorf("in line: %v", err)
		}
		if !c.differs() {
			return
		}
		if err := r.try(c, handed); err != nil {
			t.Errorf("handed over: %v", err)
		}
	})
}

// differs reports whether it may matter to the case that its connection was handed over before:
// what is no GET or HEAD is handed over in any case. Limits of time are the same ones.
func (c *hostileCase) differs() bool {
	text := c.client[0].text
	return c.limit == 0 && (strings.HasPrefix(text, "GET /") || strings.HasPrefix(text, "HEAD /"))
}

// readAhead is how much of a body is read ahead by default.
const readAhead = 64 << 10

// sends returns how many bytes the client sends, without trailers.
func (c *hostileCase) sends() (n int) {
	for _, s := range c.client {
		body, _, _ := strings.Cut(s.text, "\r\n0\r\n")
		n += len(body)
	}
	return n
}

// isPart reports whether what the origin is to see is a request that breaks off.
func isPart(seen string) bool { return strings.HasPrefix(seen, "part ") }

// try plays a case. One about limits of time is played again if it does not hold: on a
// machine that stands still for as long as a limit, it cannot.
func (r *rig) try(c *hostileCase, w way) error {
	err := r.run(c, w)
	if err != nil && c.limit > 0 {
		err = r.run(c, w)
	}
	return err
}
