package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// Windows that the page is read in.
const (
	wide  = 1400
	desk  = 1280
	phone = 390
)

// TestInChromium has one browser for all its subtests. Each page has a tab and a listener of its own. A page waits most of its time
// for the events of each second, so the subtests run in parallel.
func TestInChromium(t *testing.T) {
	testkit.Slow(t, "it drives a browser")
	testkit.Plain(t, "its work is that of a browser")
	b := testkit.OpenBrowser(t)
	run := func(name string, look func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look(t)
		})
	}
	run("every number is that of the status", everyNumber(b))
	run("numbers are written for people", written(b))
	run("figures change with the status", changing(b))
	run("limits, certificates and origins that have nothing to say", quietParts(b))
	run("certificates that end are told", endingCertificates(b))
	run("problems are told, and nothing is green meanwhile", problemsTold(b))
	run("the tiles are of now", tilesShown(b))
	run("names are no markup", hostile(b))
	run("a token that is wanted is asked for", tokenAsked(b))
	run("a token that is wrong is told", tokenWrong(b))
	run("without a token none is asked for", tokenNone(b))
	run("a token that has changed is asked for anew", tokenChanged(b))
	run("a stream that ends is taken up again", streamEnds(b))
	run("a page that is paused stays", pausing(b))
	run("nothing has to be scrolled sideways", narrow(b))
	run("lists are by what is chosen, and change", listed(b))
	run("names in lists are no markup", listedHostile(b))
	run("lists that are off, or fail, are told", listedNot(b))
	run("a URL is looked up", lookedUp(b))
	run("what is refused is told", refusedTold(b))
	run("a purge is confirmed", purgeConfirmed(b))
	run("a purge is taken back", purgeTakenBack(b))
	run("a link from another site is followed", linked(b))
	run("all forms show the token", formsShowToken(b))
	run("the curves are of an hour", anHour(b))
	run("links turn views", viewsTurned(b))
	run("alarms stand beside the links", alarmsShown(b))
	run("views fit on a phone", viewsFit(b))
	run("the live policies are tried, too", liveTried(b))
	run("servers are told, with their last check", serversShown(b))
	run("a server is drained, and ready again", drained(b))
	run("the first screen has tiles and curves", firstScreen(b))
	run("what came before is there at once", pastShown(b))
	if *axe != "" {
		run("everybody can use it", accessible(b))
	}
}

// showLists goes to the views of the lists, and waits until each has its list.
func showLists(tab *testkit.Tab) {
	view(tab, "most")
	tab.Until(`document.querySelector("#most-hosts data") !== null`)
	view(tab, "running")
	tab.Until(`document.querySelector("#running-total data") !== null`)
}

// live is true while events come.
const live = `document.documentElement.dataset.link === "live"`

// watch opens the page, waits for its figures, and fails at the end if the console says anything or a request goes elsewhere.
func (s *stand) watch(t *testing.T, b *testkit.Browser) *testkit.Tab {
	t.Helper()
	tab := b.Open(t, s.url(), desk)
	t.Cleanup(func() { s.quiet(t, tab) })
	tab.Until(live)
	return tab
}

// What the browser itself says of requests that were refused, and of those that nobody answers.
const (
	refusedByBrowser = "network error: Failed to load resource: the server responded with a status of 401"
	failedByBrowser  = "network error: Failed to load resource: net::ERR_"
)

// quiet looks at the console, where lines that begin so are allowed, and at the requests.
func (s *stand) quiet(t *testing.T, tab *testkit.Tab, allowed ...string) {
	t.Helper()
	for _, line := range tab.Console() {
		if !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(line, a) }) {
			t.Errorf("the console says %q", line)
		}
	}
	for _, to := range tab.Requests() {
		if !strings.HasPrefix(to, s.url()) && !strings.HasPrefix(to, "data:,") {
			t.Errorf("the page asked for %s", to)
		}
	}
}

// datum is a number on the page.
type datum struct{ Path, Value, Text string }

// document is the path of the document that it is from, "" for /status, and pointer its place in there.
func (d *datum) document() string {
	if document, _, other := strings.Cut(d.Path, "#"); other {
		return document
	}
	return ""
}

func (d *datum) pointer() string { return d.Path[strings.Index(d.Path, "#")+1:] }

func data(tab *testkit.Tab) (all []datum) {
	tab.Evaluate(`[...document.querySelectorAll("data")].map((d) => ({path: d.dataset.path, value: d.value, text: d.textContent}))`, &all)
	return all
}

// at returns what stands at a JSON Pointer without escapes.
func at(value any, path string) any {
	for _, step := range strings.Split(path, "/")[1:] {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// same reports whether a number, or a word, is written as the page writes its value.
func same(text string, want any) bool {
	if number, ok := want.(float64); ok {
		got, err := strconv.ParseFloat(text, 64)
		return err == nil && got == number
	}
	return want != nil && text == fmt.Sprint(want)
}

func everyNumber(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		showLists(tab)
		got := data(tab)
		if len(got) < 100 {
			t.Errorf("got %d numbers, want those of all sections", len(got))
		}
		documents := map[string]any{"": sample(t), "/top": decoded(t, "top"), "/requests": decoded(t, "requests")}
		for _, d := range got {
			if want := at(documents[d.document()], d.pointer()); !same(d.Value, want) {
				t.Errorf("%s: got %q (%s), want %v", d.Path, d.Value, d.Text, want)
			}
		}
		seen := map[string]bool{}
		for _, d := range got {
			seen[d.Path] = true
		}
		for _, want := range []string{
			"/requests/totals/hit_ratio", "/requests/totals/byte_hit_ratio", "/requests/totals/fills/saved", "/requests/totals/fills/regret_bytes",
			"/requests/totals/lately/error_ratio", "/requests/totals/last_hour/saved", "/requests/totals/last_hour/regret", "/requests/totals/status_classes/5xx",
			"/requests/routes/1/lately/error_ratio", "/origins/0/servers/1/status_classes_lately/none", "/filters/0/generations/1/fill_ratio", "/filters/0/window_seconds", "/filters/0/measured/false_positive_ratio", "/filters/0/rotations/fitted",
			"/cache/stage/writes", "/cache/objects_hit", "/cache/disk/objects_hit", "/cache/disk/write_bytes", "/cache/evictions/rejected", "/admission/shadow/0/origin_bytes", "/admission/shadow/2/origin_bytes",
			"/origins/0/servers/1/ejected_for_seconds", "/origins/0/queue_requests", "/requests/not_stored/too-large",
			"/top#/hosts/requests/rows/1/at_most", "/top#/urls/requests/rows/2/at_least", "/requests#/total", "/requests#/requests/1/age_seconds", "/requests#/requests/0/phase",
			"/limits/refused/rate/total", "/limits/let_go/idle/lately", "/certificates/1/days_left", "/certificates/0/not_after",
			"/origins/0/first_byte_lately/p95_seconds", "/origins/0/servers/1/last_check/failure", "/origins/0/servers/0/first_byte_mean_seconds_lately", "/origins/1/first_byte/mean_seconds", "/cache/eviction_age_seconds/rejected", "/cache/disk/eviction_age_seconds/capacity",
		} {
			if !seen[want] {
				t.Errorf("%s is not on the page", want)
			}
		}
		if title := tab.Text("h1"); title != "edgeproxy edge1" {
			t.Errorf("got the heading %q", title)
		}
	}
}

// liveTried looks at the row that the shadows are compared with.
func liveTried(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := open(t, "").watch(t, b)
		view(tab, "whatif")
		rows := strings.Split(rowsOf(tab, "#shadows"), "\n")
		if len(rows) != 3 || !strings.HasPrefix(rows[0], "live (second-hit, never) | ") || !strings.HasPrefix(rows[1], "always | ") {
			t.Errorf("got %q, want what is live, and then the others", rows)
		}
	}
}

func written(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.change(func(status map[string]any) {
			status["filters"].([]any)[0].(map[string]any)["false_positive_ratio_expected"] = 0.00000123
		})
		texts := map[string]string{}
		for _, d := range data(s.watch(t, b)) {
			texts[d.Path] = d.Text
		}
		for path, want := range map[string]string{
			"/requests/totals/requests": "1,539,619", "/requests/totals/hit_ratio": "78.5 %", "/cache/max_bytes": "240 MiB", "/cache/disk/bytes": "9.2 GiB",
			"/filters/0/window_seconds": "7 h 15 min", "/filters/0/generations/0/age_seconds": "2 h 32 min", "/filters/0/false_positive_ratio_expected": "0.00012 %",
			"/origins/0/servers/1/ejected_for_seconds": "13 s", "/filters/0/measured/false_positive_ratio": "0.39 %", "/origins/0/servers/1/state": "ejected", "/requests/totals/fills/regret": "31,022",
			"/origins/0/first_byte_lately/p50_seconds": "241 ms", "/origins/0/first_byte_lately/p95_seconds": "1.3 s", "/origins/0/first_byte/mean_seconds": "41.2 ms",
			"/origins/1/first_byte/p50_seconds": "840 µs", "/limits/refused/rate/total": "1,411", "/certificates/0/not_after": "2027-01-22", "/certificates/1/days_left": "310",
			"/cache/eviction_age_seconds/capacity": "14 h 13 min", "/cache/stage/eviction_age_seconds/capacity": "43 s", "/cache/disk/eviction_age_seconds/capacity": "9 d 12 h",
		} {
			if texts[path] != want {
				t.Errorf("%s: got %q, want %q", path, texts[path], want)
			}
		}
	}
}

func changing(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		s.change(func(status map[string]any) {
			status["uptime_seconds"] = 93790.5
			totals := status["requests"].(map[string]any)["totals"].(map[string]any)
			totals["requests"] = 1_539_679
			totals["results"].(map[string]any)["hit"] = 1_203_404
			status["admission"].(map[string]any)["shadow"] = nil
			status["config"].(map[string]any)["last_reload_successful"] = false
			status["config"].(map[string]any)["error"] = "edge.yaml:3:1: no"
		})
		tab.Until(`document.querySelector('[data-path="/requests/totals/requests"]').textContent === "1,539,679"`)
		view(tab, "whatif")
		if got := tab.Text("#whatif"); !strings.Contains(got, "No shadow policy is configured") || strings.Contains(got, "second-hit") {
			t.Errorf("without shadows: got %q", got)
		}
		if got := tab.Text("#notices"); !strings.Contains(got, "The last reload failed; the configuration before it stays in force: edge.yaml:3:1: no") || !strings.Contains(got, "10.0.0.12:9000") {
			t.Errorf("notices: got %q", got)
		}
		tab.Until(`document.querySelectorAll("canvas").length === 3`)
	}
}

func hostile(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		const name = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
		s := open(t, "")
		s.change(func(status map[string]any) {
			status["node"], status["version"] = name, name
			status["origins"].([]any)[0].(map[string]any)["name"] = name
			status["requests"].(map[string]any)["routes"].([]any)[0].(map[string]any)["route"] = name
			status["requests"].(map[string]any)["not_stored"].(map[string]any)[name] = 1
			status["certificates"].([]any)[0].(map[string]any)["names"] = []any{name}
			status["certificates"].([]any)[0].(map[string]any)["days_left"] = 3
			status["limits"].(map[string]any)["refused"].(map[string]any)[name] = map[string]any{"total": 1, "lately": 1}
			status["problems"] = []any{map[string]any{"what": name, "where": "origin " + name}}
		})
		tab := s.watch(t, b)
		var images int
		tab.Evaluate(`document.querySelectorAll("img, main script").length`, &images)
		if images != 0 {
			t.Errorf("got %d elements made of names", images)
		}
		for _, where := range []string{"h1", "#about", "#servers", "#routes", "#reason-rows", "#first-bytes", "#certificate-rows", "#limit-rows", "#notices", "#problem-rows"} {
			if got := tab.Text(where); !strings.Contains(got, name) {
				t.Errorf("%s: got %q, want the name as it is", where, got)
			}
		}
	}
}

const secret = "a-token-of-32-bytes-or-so/+~._=="

// show types a token and sends it by the keyboard.
func show(tab *testkit.Tab, token string) {
	tab.Until(`!document.querySelector("#token").hidden`)
	tab.Type("#token-text", token)
	tab.Press("Enter")
}

// The page asked for /status first, and the browser reported the 401 as an error, before the reader had done anything.
func tokenAsked(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab)
		tab.Until(`document.activeElement === document.querySelector("#token-text")`)
		tab.Until(`document.querySelector("#figures").hidden`)
		show(tab, secret)
		tab.Until(`document.documentElement.dataset.link === "live" && document.querySelector("#token").hidden`)
		var kept []string
		tab.Evaluate(`[sessionStorage.getItem("edgeproxy-admin-token"), String(localStorage.length), document.cookie, location.href]`, &kept)
		if want := []string{secret, "0", "", s.url()}; strings.Join(kept, " ") != strings.Join(want, " ") {
			t.Errorf("got %q kept, want the token in the tab alone", kept)
		}
		tab.Go(s.url()) // the tab has it
		tab.Until(live)
		tab.Click("#forget")
		tab.Until(`!document.querySelector("#token").hidden && document.querySelector("#figures").hidden && sessionStorage.length === 0`)
	}
}

func tokenWrong(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, secret)
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, refusedByBrowser)
		show(tab, "gäst")
		tab.Until(`document.querySelector("#token-why").innerText.includes("one word of ASCII")`)
		show(tab, "another")
		tab.Until(`document.querySelector("#token-why").innerText.includes("the token is not the admin token")`)
		tab.Until(`sessionStorage.length === 0`)
		show(tab, secret)
		tab.Until(live)
	}
}

func tokenNone(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := open(t, "").watch(t, b)
		tab.Until(`document.querySelector("#token").hidden && document.querySelector("#forget").hidden && !document.querySelector("#figures").hidden`)
	}
}

func tokenChanged(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, refusedByBrowser) // the page knows nothing of the reload
		tab.Until(live)
		o := s.options
		o.Token = secret
		use, err := s.server.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		use()
		show(tab, secret)
		tab.Until(live)
	}
}

// again ends the stream, and waits for the next one. It returns what the page says meanwhile.
func (s *stand) again(t *testing.T, tab *testkit.Tab) (said []string) {
	t.Helper()
	tab.Evaluate(`(() => {
		const link = document.querySelector("#link"), said = window.said = [];
		new MutationObserver(() => said.push(link.innerText)).observe(link, {childList: true, characterData: true, subtree: true});
	})()`, nil)
	use, err := s.server.Prepare(s.options)
	if err != nil {
		t.Fatal(err)
	}
	use() // which ends the streams
	tab.Until(`said.at(-1) === "Live."`)
	tab.Evaluate("said", &said)
	return said
}

func streamEnds(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := b.Open(t, s.url(), desk)
		defer s.quiet(t, tab, failedByBrowser)
		tab.Until(live)
		if seen := s.again(t, tab); !strings.HasPrefix(seen[0], "Not live: ") {
			t.Errorf("got %q, want it said that the stream has ended", seen)
		}
		if err := s.server.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		tab.Until(`document.documentElement.dataset.link === "lost"`)
		tab.Until(`document.querySelector("#age").innerText.includes("old")`)
	}
}

func pausing(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		tab := s.watch(t, b)
		tab.Click("#pause")
		s.change(func(status map[string]any) { status["node"], status["uptime_seconds"] = "edge2", 93800.5 })
		s.again(t, tab) // what comes by the next stream was made after the change
		if got := tab.Text("#node"); got != "edge1" {
			t.Errorf("paused: got %q, want what was shown", got)
		}
		tab.Click("#pause")
		if got := tab.Text("#node"); got != "edge2" {
			t.Errorf("no longer paused: got %q, want the latest", got)
		}
	}
}

func narrow(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		s := open(t, "")
		s.change(func(status map[string]any) { status["node"] = strings.Repeat("a-long-name-", 20) })
		s.changeList("/top", func(list map[string]any) {
			list["urls"].(map[string]any)["requests"].(map[string]any)["rows"].([]any)[0].(map[string]any)["name"] = "http://a.example/" + strings.Repeat("x", 1000)
		})
		tab := s.watch(t, b)
		showLists(tab)
		tab.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil)
		for _, width := range []int{phone, desk} {
			tab.Width(width)
			for _, id := range viewNames(tab) {
				view(tab, id)
				tab.Until(fmt.Sprintf(`innerWidth === %d && [...document.querySelectorAll(".uplot")].every((u) => u.clientWidth <= %d)`, width, width))
				var wide []string
				tab.Evaluate(`[document.scrollingElement, ...document.querySelectorAll("body *")].filter((e) =>
			e.clientWidth > 0 && e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== "auto" && !e.closest(".uplot, .plot, .unseen")).map((e) => e.outerHTML.slice(0, 80))`, &wide)
				if len(wide) > 0 {
					t.Errorf("%s, %d pixels: too wide: %q", id, width, wide)
				}
			}
		}
	}
}
