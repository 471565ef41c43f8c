package figures

import (
	"errors"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	f := func(want float64, values ...float64) {
		t.Helper()
		if got := Median(values); got != want {
			t.Errorf("%v: got %v, want %v", values, got, want)
		}
	}
	f(3, 3)
	f(2.5, 2, 9, 1, 3)
	f(2, 9, 1, 2)
}

func TestQuantile(t *testing.T) {
	sorted := make([]int64, 1000)
	for i := range sorted {
		sorted[i] = int64(i + 1)
	}
	f := func(q float64, want int64) {
		t.Helper()
		if got := Quantile(sorted, q); got != want {
			t.Errorf("%v: got %d, want %d", q, got, want)
		}
	}
	f(0, 1)
	f(0.5, 501)
	f(0.999, 1000)
	f(1, 1000)
	if got := Quantile([]int64(nil), 0.5); got != 0 {
		t.Errorf("no samples: got %d, want 0", got)
	}
}

func TestTheTableIsTextAndMarkdown(t *testing.T) {
	f := func(tab Table, want string) {
		t.Helper()
		tab.Row("size", "µs")
		tab.Rowf("%d KiB\t%.1f", 16, 12.34)
		var b strings.Builder
		if err := tab.Write(&b); err != nil || b.String() != want {
			t.Errorf("got %q and %v, want %q", &b, err, want)
		}
	}
	f(Table{Text: "Cost.\n\n"}, "Cost.\n\nsize     µs\n16 KiB   12.3\n")
	f(Table{Right: true, Gap: 1}, "   size   µs\n 16 KiB 12.3\n")
	var tab Table
	tab.Row("a", "b")
	tab.Row("1", "2")
	if got, want := tab.Markdown(""), "| a | b |\n|---|---|\n| 1 | 2 |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := tab.Markdown("|---|--:|"), "| a | b |\n|---|--:|\n| 1 | 2 |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := tab.Write(broken{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
