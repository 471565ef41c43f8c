//go:build linux

package fair

import (
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

func attacks() []attack {
	return slices.Concat(memoryAttacks(), placeAttacks(), keyAttacks(), processAttacks())
}

// times are how long an attack goes on in the usual tests, and in make soak-fair.
func times(usual, soak time.Duration) [2]time.Duration { return [2]time.Duration{usual, soak} }

// pick chooses between the usual tests and make soak-fair.
func pick[T any](usual, soak T) T {
	if comparing {
		return soak
	}
	return usual
}

// TestFair plays the attacks and prints what came of them.
func TestFair(t *testing.T) {
	testkit.Slow(t, "it attacks the built program")
	testkit.Plain(t, "the program does the work")
	var rows []*row
	var back *comeback
	if comparing {
		back = &comeback{keep: t}
	}
	for _, a := range attacks() {
		if a.soak && !comparing {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			if !comparing {
				t.Parallel()
				stage(t, a, nil)
				return
			}
			rows = append(rows, stage(t, a, back))
		})
	}
	if !comparing {
		return
	}
	for _, wait := range back.waiting {
		wait()
	}
	text := table(rows)
	t.Log("\n" + text)
	if file := os.Getenv("EDGEPROXY_FAIR_TABLE"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	for _, r := range rows {
		for _, w := range r.wrong {
			t.Errorf("%s: %s", r.name, w)
		}
	}
}

// table is what came of the attacks, in Markdown.
func table(rows []*row) string {
	var b strings.Builder
	b.WriteString("| attack | p99 of hits: before, control, during | p99 of misses: before, control, during | misses answered | RSS: before, during, bound, after | what else | held |\n")
	b.WriteString("|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		held := "yes"
		if len(r.wrong) > 0 {
			held = "NO"
		}
		fmt.Fprintf(&b, "| %s | %s, %s, %s | %s, %s, %s | %.1f %% | %.0f, %.0f, %.0f, %.0f MiB | %s | %s |\n", r.name,
			ms(r.before.hits99()), ms(r.control.hits99()), ms(r.during.hits99()),
			ms(r.before.misses99()), ms(r.control.misses99()), ms(r.during.misses99()),
			100*r.during.answered(), r.rssBefore/(1<<20), r.rss/(1<<20), r.bound/(1<<20), r.rssAfter/(1<<20),
			strings.Join(r.notes, ", "), held)
	}
	return b.String()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http's client tells of connections that are refused
	code := m.Run()
	if err := testkit.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
