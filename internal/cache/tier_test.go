package cache

import (
	"fmt"
	"testing"
)

func TestFillIsTheMemoryTiersShare(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 4 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 1, StageBytes: 1 << 20})
	f := func(what string, least, most float64) {
		t.Helper()
		if got := s.Fill(); got < least || got > most {
			t.Errorf("%s: got %.3f, want %.3f to %.3f", what, got, least, most)
		}
	}
	f("empty", 0, 0)
	for i := range 300 {
		mustStage(t, s, plain(fmt.Sprintf("/staged/%d", i), 0, 10_000))
	}
	f("full stage", 0, 0)
	e := plain("/a", 0, 10_000)
	mustPut(t, s, e)
	want := float64(e.Cost()) / (3 << 20)
	f("one entry", want, want)
	for i := range 600 {
		mustPut(t, s, plain(fmt.Sprintf("/memory/%d", i), 0, 10_000))
	}
	f("full", 0.94, 31.0/32)
}
