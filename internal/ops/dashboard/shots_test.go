package dashboard

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// The documents show what the tests see: make screenshots.
var shots = flag.String("screenshots", "", "`folder` to write the screenshots of the documents to; empty is none")

// mostShot is how many bytes a screenshot may have.
const mostShot = 150_000

// quarter returns the status of each other second of a quarter of an hour, the last one as the sample has it.
func quarter(t *testing.T) (all [][]byte) {
	t.Helper()
	status := sample(t)
	totals := status["requests"].(map[string]any)["totals"].(map[string]any)
	add := func(fields map[string]any, name string, n float64) { fields[name] = fields[name].(float64) + n }
	move := func(second int, by float64) {
		wave := math.Sin(float64(second) / 60)
		hits, held := by*math.Round(680+180*wave), by*math.Round(220-50*wave)
		results, bytes := totals["results"].(map[string]any), totals["result_bytes"].(map[string]any)
		add(status, "uptime_seconds", 2*by)
		add(totals, "requests", hits+held)
		add(results, "hit", hits)
		add(results, "held_back", held)
		add(totals, "response_bytes", 50_000*hits+43_000*held)
		add(bytes, "hit", 50_000*hits)
		add(bytes, "held_back", 43_000*held)
	}
	for second := 0; second < 900; second += 2 {
		move(second, -1)
	}
	for second := 0; second < 900; second += 2 {
		move(second, 1)
		text, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// busy serves the page, with a stream that tells of the last quarter of an hour at once, and then stays.
func busy(t *testing.T) *httptest.Server {
	t.Helper()
	all := quarter(t)
	mux := http.NewServeMux()
	mux.Handle("/{$}", Handler(false))
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(all[0]) })
	mux.HandleFunc("/status/history", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(busyHour(json.RawMessage(all[len(all)-1]))) // a client that has left has a failed test
	})
	for _, name := range []string{"top", "requests"} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/"+name+".json") })
	}
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		for _, text := range all {
			fmt.Fprintf(w, "data: %s\n\n", text)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// busyHour is an hour with some of each result, and with an origin that fails for a minute.
func busyHour(status json.RawMessage) any {
	hour := hourBefore(status, 0).(map[string]any)
	results, classes := map[string][]int{}, map[string][]int{}
	for i := range hour["end"].([]any) {
		wave, failed := 1+math.Sin(float64(i)/45)/4+math.Sin(float64(i)/7)/30, 0
		if i >= 210 && i < 216 {
			failed = int(900 * wave)
		}
		miss := int(620*wave) - failed/2
		results["hit"], results["revalidated"] = append(results["hit"], int(6600*wave)), append(results["revalidated"], int(210*wave))
		results["stale"], results["miss"] = append(results["stale"], failed/2), append(results["miss"], miss)
		results["held_back"], results["pass"] = append(results["held_back"], int(1300*wave)), append(results["pass"], int(330*wave)-failed/4)
		results["error"] = append(results["error"], failed/4)
		classes["2xx"], classes["3xx"] = append(classes["2xx"], int(8200*wave)-failed/2), append(classes["3xx"], int(640*wave))
		classes["4xx"], classes["5xx"] = append(classes["4xx"], int(220*wave)), append(classes["5xx"], failed/2)
		for _, name := range []string{"1xx", "none"} {
			classes[name] = append(classes[name], 0)
		}
	}
	hour["results"], hour["status_classes"] = results, classes
	return hour
}

// The curves are of an hour, also where less has come.
func anHour(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := b.Open(t, busy(t).URL+"/", desk)
		tab.Dark(false)
		tab.Call("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "UTC"}, nil)
		tab.Width(wide)
		tab.Until(`document.querySelector('[data-path="/requests/totals/requests"]').textContent === "1,539,619"`)
		tab.Until(`[...document.querySelectorAll("#tiles polyline")].filter((line) => line.points.length === 360).length === 6`)
		fits := func(width int) {
			tab.Until(fmt.Sprintf(`innerWidth === %d && [...document.querySelectorAll("#overview .uplot")].filter((u) => u.clientWidth > 0 && u.clientWidth <= %d).length === 2`, width, width))
		}
		fits(wide)
		keepShot(t, "dashboard", tab.Screenshot(wide, 900))
		tab.Dark(true)
		tab.Until(`matchMedia("(prefers-color-scheme: dark)").matches`)
		fits(wide)
		keepShot(t, "dashboard-dark", tab.Screenshot(wide, 900))
		tab.Width(phone)
		fits(phone)
		keepShot(t, "dashboard-phone", tab.Screenshot(phone, 900))
	}
}

// keepShot looks at a screenshot, and writes it where the flag says so.
func keepShot(t *testing.T, name string, shot []byte) {
	t.Helper()
	image, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(shot) > mostShot || image.Bounds().Dy() != 900 {
		t.Errorf("%s: got %d bytes of %v, want at most %d", name, len(shot), image.Bounds(), mostShot)
	}
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), shot, 0o644); err != nil {
		t.Fatal(err)
	}
}
