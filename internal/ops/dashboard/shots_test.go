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
		_ = json.NewEncoder(w).Encode(hourBefore(json.RawMessage(all[len(all)-1]), 0)) // a client that has left has a failed test
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

// The curves are of ten minutes, also where more has come.
func tenMinutes(b *testkit.Browser) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		tab := b.Open(t, busy(t).URL+"/", desk)
		tab.Dark(false)
		tab.Call("Emulation.setTimezoneOverride", map[string]any{"timezoneId": "UTC"}, nil)
		tab.Until(`document.querySelector('[data-path="/requests/totals/requests"]').textContent === "1,539,619"`)
		tab.Click("#minutes-details summary")
		tab.Until(`document.querySelector("#minutes").rows.length === 11`)
		tab.Click("#minutes-details summary")
		tab.Until(`[...document.querySelectorAll("#tiles polyline")].filter((line) => line.points.length === 360).length === 6`)
		keepShot(t, "dashboard", tab.Screenshot(desk, 900))
		tab.Dark(true)
		tab.Until(`matchMedia("(prefers-color-scheme: dark)").matches`)
		tab.Width(phone)
		tab.Until(fmt.Sprintf(`innerWidth === %d && document.querySelector("#ratio-plot .uplot").clientWidth <= %d`, phone, phone))
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
