package edge

import (
	"fmt"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/fit"
)

// Routes share the counting filter, so the one that counts furthest decides how long its generations are. A reload that
// changes which that is changes the length, and what was counted stays.
func TestTheRouteThatCountsFurthestDecidesTheWindow(t *testing.T) {
	file := func(one, other int) string {
		return fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["http://127.0.0.1:9"]}}
admission: {counting: {more_than: 14, false_positive_rate: 1e-6}}
routes:
  - {name: one, match: {path_prefix: /one}, origin: app, admission: {policy: counting, more_than: %d}}
  - {name: other, match: {path_prefix: /other}, origin: app, admission: {policy: counting, more_than: %d}}
  - {name: rest, origin: app}
`, one, other)
	}
	from := &Source{File: writeFile(t, "edge.yaml", file(1, 3))}
	c, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := built(t, c, Options{Source: from})
	if err := e.Listen(); err != nil {
		t.Fatal(err)
	}
	rule := admission.Rule{Policy: admission.Counting, MoreThan: 1}
	e.gate.Sight(rule, 1, 2)
	want := func(when string, moreThan int) {
		t.Helper()
		l := fit.Counting(moreThan)
		for _, s := range e.gate.Stats(time.Now()) {
			if limit := l.Room(l.Sightings(e.gate.Objects())); s.Name == admission.CountingFilter && s.Limit != limit {
				t.Errorf("%s: got generations of %d keys, want %d for more than %d", when, s.Limit, limit, moreThan)
			}
		}
	}
	want("at the start", 3)
	for _, next := range [][2]int{{2, 3}, {2, 5}, {2, 1}} {
		renameOver(t, from.File, file(next[0], next[1]))
		if _, err := e.reloader.reload("test"); err != nil {
			t.Fatal(err)
		}
		want(fmt.Sprintf("after a reload to %d and %d", next[0], next[1]), max(next[0], next[1]))
	}
	if got := e.gate.Sight(rule, 1, 2).Sightings; got != 2 {
		t.Errorf("got %d sightings with the one of before the reloads, want 2", got)
	}
}
