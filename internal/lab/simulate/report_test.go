package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), go test -update writes it anew:\n%s", path, diff)
	}
}

func text(t *testing.T, r *Report, name string) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b, name); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The rates of the golden files are so low that no filter errs in so small a log.
func TestTextOfATinyLog(t *testing.T) {
	r := replayed(t, tiny(t), Grid{
		Capacities: []Amount{{Percent: 10}}, Stages: []Amount{{}, {Percent: 10}}, FalsePositiveRates: []float64{1e-5}, Evictions: lru(),
	})
	golden(t, "tiny.txt", text(t, r, "tiny.log"))
}

func TestTextSaysWhatDiffersAndWhatNobodyAskedFor(t *testing.T) {
	r := replayed(t, tiny(t), Grid{
		Policies:    []admission.Policy{admission.SecondHit, admission.Never},
		Capacities:  []Amount{{Bytes: 50_000}, {Bytes: 200_000}},
		Rotations:   []Rotation{{Unit: ByTime, Every: 10 * time.Minute}, {Unit: ByRequests, Count: 120}},
		Generations: []int{2, 3}, FalsePositiveRates: []float64{1e-5, 2e-5},
		Evictions: []model.Eviction{model.LRU, model.S3FIFO},
	})
	golden(t, "grid.txt", text(t, r, "tiny.log"))
}

// With enough of a log there is a recommendation, and lines for the file.
func TestTextOfARecommendation(t *testing.T) {
	r := replayed(t, zipf(t, 10_000), Grid{
		Policies: []admission.Policy{admission.Always, admission.SecondHit}, Stages: []Amount{{}, {Percent: 10}}, FalsePositiveRates: []float64{1e-5},
		Evictions: lru(),
	})
	golden(t, "recommended.txt", text(t, r, "zipf:"))
	for _, s := range r.Page("zipf:").Sections {
		if s.Heading == "Recommended at 3.3 MiB" && s.Text == r.Advice[0].Why && s.Code == r.Advice[0].YAML {
			return
		}
	}
	t.Error("the page has no recommendation")
}

func TestTextOfExactSets(t *testing.T) {
	r := replayed(t, tiny(t), Grid{
		Exact: true, Capacities: []Amount{{Percent: 10}}, Policies: []admission.Policy{admission.SecondHit}, Evictions: lru(),
	})
	golden(t, "exact.txt", text(t, r, "tiny.log"))
}

// The names are fixed: scripts read them.
func TestJSONHasTheNamesThatAreFixed(t *testing.T) {
	r := replayed(t, tiny(t), Grid{Capacities: []Amount{{Percent: 10}}})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	var traceFacts map[string]any
	var results []map[string]any
	d := json.NewDecoder(&b)
	if err := errors.Join(d.Decode(&doc), json.Unmarshal(doc["trace"], &traceFacts), json.Unmarshal(doc["results"], &results)); err != nil {
		t.Fatal(err)
	}
	if d.More() || len(doc) != 2 {
		t.Errorf("got %d keys and more %v, want one document with trace and results", len(doc), d.More())
	}
	f := func(where string, got map[string]any, want ...string) {
		t.Helper()
		for _, name := range want {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: no %s in %v", where, name, got)
			}
		}
	}
	f("trace", traceFacts, "requests", "objects", "request_bytes", "unique_bytes", "one_hit_objects", "bad_lines")
	if len(traceFacts) != 6 {
		t.Errorf("trace: got %d fields, want the 6 that are fixed: %v", len(traceFacts), traceFacts)
	}
	for _, res := range results {
		f("result", res, "policy", "more_than", "rotate", "generations", "capacity_bytes", "stage_bytes", "eviction",
			"requests", "hits", "hit_ratio", "byte_hit_ratio", "writes", "write_bytes", "writes_avoided", "write_bytes_avoided",
			"held_back", "regret", "too_large", "origin_requests", "origin_bytes")
		for _, name := range []string{"false_positive_ratio", "filter_bytes"} {
			_, there := res[name]
			if filtered := res["policy"] != "always"; there != filtered {
				t.Errorf("%v: got %s %v, want it exactly where there is a filter", res, name, there)
			}
		}
		if _, there := res["baseline"]; there != (res["policy"] == "always") {
			t.Errorf("%v: got baseline %v, want it at always alone", res, there)
		}
	}
	last := results[len(results)-1]
	if last["policy"] != "counting" || last["more_than"] != 4.0 || last["generations"] != 2.0 || last["rotate"] != "auto" {
		t.Errorf("last: got %v, want counting with its threshold, rotation and generations", last)
	}
}

// And always, whatever was asked for: the others are less by its figures.
func TestJSONHasWhatWasAskedForAndTheBaseline(t *testing.T) {
	f := func(want []string, policies ...admission.Policy) {
		t.Helper()
		r := replayed(t, zipf(t, 10_000), Grid{
			Policies: policies, Rotations: []Rotation{{Unit: ByKeys, Count: 200}}, Capacities: []Amount{{Percent: 5}, {Percent: 10}}, Evictions: lru(),
		})
		var b bytes.Buffer
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Results []struct {
				Policy      string
				Writes      int64
				Avoided     int64 `json:"writes_avoided"`
				Baseline    bool
				Recommended bool
			}
		}
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		var got []string
		recommended, always := 0, int64(0)
		for _, res := range doc.Results {
			got = append(got, res.Policy)
			if res.Baseline {
				always = res.Writes
			}
			if res.Writes+res.Avoided != always || res.Baseline != (res.Policy == "always") {
				t.Errorf("%+v: want it less than a baseline of %d writes before it", res, always)
			}
			if res.Policy == "second-hit" && res.Avoided <= 0 {
				t.Errorf("second-hit: got %d writes avoided, want some, always asked for or not", res.Avoided)
			}
			if res.Recommended {
				recommended++
			}
		}
		if !slices.Equal(got, want) || recommended != 2 {
			t.Errorf("%v: got %v, %d recommended, want %v and one for each capacity", policies, got, recommended, want)
		}
	}
	f([]string{"always", "second-hit", "always", "second-hit"}, admission.Always, admission.SecondHit)
	f([]string{"always", "second-hit", "always", "second-hit"}, admission.SecondHit)
	f([]string{"always", "always"}, admission.Always)
}

// full fails as a disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestReportThatCannotBeWrittenIsAnError(t *testing.T) {
	r := replayed(t, tiny(t), Grid{Policies: []admission.Policy{admission.Always}})
	for name, err := range map[string]error{"text": r.WriteText(full{}, "tiny.log"), "JSON": r.WriteJSON(full{})} {
		if err == nil || err.Error() != "write the report: no space left" {
			t.Errorf("%s: got %v, want the writer's error", name, err)
		}
	}
}

func TestPageHasEveryGroupAndTheAdvice(t *testing.T) {
	r := replayed(t, tiny(t), Grid{Capacities: []Amount{{Percent: 20}, {Percent: 5}}, Evictions: []model.Eviction{model.LRU, model.S3FIFO}})
	p := r.Page("<tiny> & co")
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Advice {
		if !strings.Contains(b.String(), "max_bytes: "+bytesKey(max(a.CapacityBytes, 1<<20))) {
			t.Errorf("no lines for %d bytes in the page", a.CapacityBytes)
		}
	}
	if len(r.Unadvised) != 2 {
		t.Errorf("got %d capacities without a recommendation, want both", len(r.Unadvised))
	}
	for _, u := range r.Unadvised {
		if !strings.Contains(b.String(), "Nothing is recommended at "+size(u.CapacityBytes)) || !strings.Contains(b.String(), "408 of 2,500 requests") {
			t.Errorf("%d bytes: the page does not say why nothing is recommended", u.CapacityBytes)
		}
	}
	if strings.Contains(b.String(), "<tiny>") {
		t.Error("the name of the log is markup in the page")
	}
	lines, points, rows := 0, 0, 0
	for _, s := range p.Sections {
		if s.Table != nil {
			rows += len(s.Table.Rows)
		}
		if s.Chart == nil {
			continue
		}
		for _, series := range s.Chart.Series {
			if s.Heading == "Hit ratio by capacity, lru" {
				lines++
				if len(series.X) != 2 || series.X[0] >= series.X[1] {
					t.Errorf("%s: got capacities %v, want both, the smaller first", series.Name, series.X)
				}
			}
			if s.Table != nil {
				points += len(series.X)
			}
		}
	}
	settings := 0
	for _, g := range r.Groups {
		settings += len(g.Results)
	}
	if points != settings || rows != settings || lines != maxCurves {
		t.Errorf("got %d points, %d rows and %d curves, want %d of both and %d", points, rows, lines, settings, maxCurves)
	}
}

func TestPageWithOneCapacityHasNoCurveOfCapacities(t *testing.T) {
	for _, s := range replayed(t, tiny(t), Grid{}).Page("tiny.log").Sections {
		if strings.HasPrefix(s.Heading, "Hit ratio by capacity") {
			t.Errorf("got the section %q, want none: a curve has two points", s.Heading)
		}
	}
}
