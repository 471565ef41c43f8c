package testkit

import "testing"

// TestWhatHasNotChangedIsLeftOut: against the empty tree all that is there has changed, and nothing else.
func TestWhatHasNotChangedIsLeftOut(t *testing.T) {
	Program(t, "git")
	const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	f := func(since string, skipped bool, paths ...string) {
		t.Helper()
		t.Setenv("EDGEPROXY_TEST_SINCE", since)
		ran := false
		tb := &skipping{TB: t}
		func() {
			defer func() { _ = recover() }()
			Changed(tb, paths...)
			ran = true
		}()
		if ran == skipped || tb.skipped != skipped {
			t.Errorf("since %q, %q: ran %v, skipped %v, want skipped %v", since, paths, ran, tb.skipped, skipped)
		}
	}
	f("", false, "no/such")
	f(emptyTree, false, "Makefile")
	f(emptyTree, false, "no/such", "scripts")
	f(emptyTree, true, "no/such", "nor/this/*.go")
}

// skipping is a test that notes its skip.
type skipping struct {
	testing.TB
	skipped bool
}

func (s *skipping) Skip(...any) {
	s.skipped = true
	panic("skipped")
}
