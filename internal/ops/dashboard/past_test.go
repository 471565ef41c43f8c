package dashboard

import (
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// pointed moves the mouse over the middle of a plot, and returns what its legend says.
func pointed(tab *testkit.Tab, plot string) (legend string) {
	tab.Evaluate(`(() => {
		const over = document.querySelector("`+plot+` .u-over"), box = over.getBoundingClientRect();
		for (const kind of ["mouseenter", "mousemove"]) over.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 20}));
	})()`, nil)
	tab.Until(`!document.querySelector("` + plot + ` .u-legend").innerText.includes("–")`)
	return tab.Text(plot + " .u-legend")
}

// The curves were empty when they were needed: when somebody opens the page because something is wrong.
func pastShown(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := open(t, "").watch(t, b)
		tab.Call("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "UTC"}, nil)
		tab.Until(`document.querySelectorAll("canvas").length === 3`)
		// All but the hit ratio, which nothing has while all requests fail.
		tab.Until(`[...document.querySelectorAll("#tiles polyline")].filter((line) => line.points.length === 360).length === 5`)
		tab.Click("#past-details summary")
		tab.Until(`document.querySelector("#past").rows.length === 61`)
		var rows []string
		tab.Evaluate(`[...document.querySelector("#past").rows].map((r) => r.innerText)`, &rows)
		for i, want := range map[int]string{0: "03:07\t0\t0\t0\t36,000\t0", 1: "03:06\t0\t0\t0\t54,000\t0", 5: "03:02\t54,000\t0\t0\t0\t0"} {
			if rows[i] != want {
				t.Errorf("row %d: got %q, want %q", i, rows[i], want)
			}
		}
		if got := pointed(tab, "#class-plot"); !strings.Contains(got, "02:37") || !strings.Contains(got, "900") {
			t.Errorf("the curves by class: got %q, want those of half an hour ago", got)
		}
		if got := pointed(tab, "#rate-plot"); !strings.Contains(got, "03:02") || !strings.Contains(got, "900") {
			t.Errorf("the curve of requests: got %q, want what came before the page was opened", got)
		}
	}
}
