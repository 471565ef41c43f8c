package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestMissIsOneReadAndOneWriteOnEachSide: head and body of a small response left in two writes, and
// a client got two segments.
func TestMissIsOneReadAndOneWriteOnEachSide(t *testing.T) {
	const misses = 50
	edge := traceable(t)
	c, err := dial(edge.Address, 1, nil, wanted{size: freshSize, mark: missMark})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func() {
		if err := c.one(0, freshPage(freshSize).request(edge.Address)); err != nil {
			t.Error(err)
		}
	}
	ask() // both connections are there, with their buffers
	calls := trace(t, edge.PID(), func() {
		for range misses {
			ask()
		}
		sayGoodbye(t, c.conns[0])
	})
	if vain := vainReads(calls); vain != 0 {
		t.Errorf("reads of the origin's connection that found nothing: got %d of %d misses, want none", vain, misses)
	}
	counts := countMissCalls(calls)
	want := map[string]int{"read GET ": misses, "sendto GET ": misses, "read HTTP": misses, "sendto HTTP": misses}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("successful calls for %d misses: got %v, want %v", misses, counts, want)
	}
}

// countMissCalls counts the successful calls on the connections of the client and of the origin, by
// what they move.
func countMissCalls(calls []call) map[string]int {
	head := func(c call) bool {
		return strings.HasPrefix(c.args, `"GET `) || strings.HasPrefix(c.args, `"HTTP/1.1 `)
	}
	conns := map[int]bool{}
	for _, c := range calls {
		conns[c.fd] = conns[c.fd] || head(c)
	}
	counts := map[string]int{}
	for _, c := range calls {
		switch {
		case !conns[c.fd] || c.n <= 0 || strings.Contains(c.args, goodbye) || strings.Contains(c.args, refusal):
		case head(c):
			counts[c.word()+" "+c.args[1:5]]++
		default:
			counts[c.word()+" of something else"]++
		}
	}
	return counts
}

// vainReads counts the reads of connections to an origin that had nothing to read. Such a connection is
// looked at before it is used; then the poller says when to read.
func vainReads(calls []call) (n int) {
	origins := map[int]bool{}
	for _, c := range calls {
		origins[c.fd] = origins[c.fd] || c.name == "sendto" && strings.HasPrefix(c.args, `"GET `)
	}
	for _, c := range calls {
		if origins[c.fd] && c.word() == "read" && c.n < 0 && !strings.Contains(c.args, "MSG_PEEK") {
			n++
		}
	}
	return n
}
