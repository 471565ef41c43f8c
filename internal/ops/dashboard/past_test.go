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
		tab.Until(`document.querySelector("#result-plot .uplot").clientWidth > 0`)
		for plot, want := range map[string]string{"#class-plot": "1xx02xx9003xx04xx05xx0no answer0", "#result-plot": "hit700revalidated0stale0miss200held_back0pass0error0"} {
			if got := pointed(tab, plot); !strings.Contains(got, "02:37") || !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q of half an hour ago", plot, got, want)
			}
		}
		view(tab, "traffic")
		tab.Click("#past-details summary")
		tab.Until(`document.querySelector("#past").rows.length === 61`)
		var rows []string
		tab.Evaluate(`[...document.querySelector("#past").rows].map((r) => r.innerText)`, &rows)
		for i, want := range map[int]string{0: "03:07\t0\t0\t0\t0\t36,000\t0", 1: "03:06\t0\t0\t0\t0\t54,000\t0", 5: "03:02\t0\t54,000\t0\t0\t0\t0"} {
			if rows[i] != want {
				t.Errorf("row %d: got %q, want %q", i, rows[i], want)
			}
		}
		tab.Click("#minutes-details summary")
		tab.Until(`document.querySelector("#minutes").rows.length === 61`)
		tab.Evaluate(`[...document.querySelector("#minutes").rows].map((r) => r.innerText)`, &rows)
		for i, want := range map[int]string{1: "03:06\t54,000\t–\t0\t0\t0\t0\t0\t0\t54,000", 5: "03:02\t54,000\t77.8 %\t42,000\t0\t0\t12,000\t0\t0\t0"} {
			if rows[i] != want {
				t.Errorf("row %d: got %q, want %q", i, rows[i], want)
			}
		}
	}
}
