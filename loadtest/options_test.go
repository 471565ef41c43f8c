package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/lab/command"
	"edgeproxy/internal/lab/trace"
)

func parse(t *testing.T, args ...string) *options {
	t.Helper()
	o, err := parseFlags(append([]string{"--trace", "f"}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFlagDefaults(t *testing.T) {
	got := parse(t)
	want := &options{
		parameters: map[string]float64{}, trace: "f", seed: 1, policies: []string{"always", "second-hit", "counting"}, capacity: amount{text: "5%", share: 0.05},
		connections: 32, runs: 1, maxAge: 24 * time.Hour, timeout: defaultTimeout, baseline: "auto",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, amount{}, thresholds{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAlwaysIsIncludedFirstAndOnce(t *testing.T) {
	if got, want := parse(t, "--policies", "never,second-hit,always,never").policies, []string{"always", "never", "second-hit"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		_, err := parseFlags(append([]string{"--trace", "f"}, args...), io.Discard)
		if command.Code("loadtest", err, io.Discard) != command.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want exit 2 and %q", args, err, want)
		}
	}
	f("--trace: must be", "--trace", "")
	f("not defined: -shadow", "--shadow", "f")
	f("--html: must be a file in an existing folder", "--html", "no/such/folder/f")
	f("--html: must be a file", "--html", t.TempDir())
	f("--json-file: must be a file in an existing folder", "--json-file", "no/such/folder/f")
	f("--runs: must be 1 to 100", "--runs", "0")
	f("--runs: must be 1 to 100", "--runs", "101")
	f("--baselines: must be auto, all, none, or a list of nginx and trafficserver", "--baselines", "varnish")
	f("at most 50%", "--stage", "51%")
	f("must be a share above 0%", "--stage", "0%")
	f("must be a size", "--stage", "some")
	f("--stage: needs second-hit or counting", "--stage", "10%", "--policies", "never")
	f(`unexpected argument "x"`, "x")
	f("unknown policy", "--policies", "lru")
	f("--format: must be seq, combined, tsv", "--format", "xml")
	f("--limit: must be", "--limit", "-1")
	f("--rate: must be", "--rate", "0")
	f("--rate: must be", "--rate", "NaN")
	f("--connections: must be 1 to 1024", "--connections", "0")
	f("must be a share above 0%", "--capacity", "0%")
	f("must be a share above 0%", "--capacity", "101%")
	f("must be a share above 0%", "--capacity", "NaN%")
	f("must be a size", "--capacity", "much")
	f("must be a size", "--max-object", "0")
	f("must be a duration with a unit", "--rotate-every", "30")
	f("must be a duration with a unit", "--rotate-every", "-30s")
	f("--max-age: must be", "--max-age", "1500ms")
	f("--timeout: must be", "--timeout", "0s")
	f("--more-than: must be 1 to 14", "--more-than", "15")
	f("--filter-capacity: must be", "--filter-capacity", "0")
	f("--min-saved: must be", "--min-saved", "75")
	f("must be a share from 0 to 1", "--min-less", "44")
	f("--min-less: needs --disk", "--min-less", "0.44")
	f("--min-less: needs second-hit", "--min-less", "0.44", "--disk", "10%", "--policies", "never")
	f("--max-off: needs --disk, and neither", "--max-off", "0.005")
	f("--max-off: needs --disk, and neither", "--max-off", "0.005", "--disk", "10%", "--rotate-every", "5m")
	f("--max-loss: needs second-hit", "--max-loss", "0", "--policies", "never")
	f("--more-than: needs counting", "--more-than", "2", "--policies", "second-hit")
	f("--rotate-every: needs second-hit or counting", "--rotate-every", "5m", "--policies", "never")
	f("--filter-capacity: needs", "--filter-capacity", "5", "--policies", "never")
	f("--min-saved: needs second-hit", "--min-saved", "0.5", "--policies", "counting")
	if _, err := parseFlags([]string{"--trace", "", "--limit", "-1"}, io.Discard); !strings.Contains(err.Error(), "--trace") || !strings.Contains(err.Error(), "--limit") {
		t.Errorf("got %v, want both faults at once", err)
	}
	var help bytes.Buffer
	if _, err := parseFlags([]string{"--help"}, &help); command.Code("loadtest", err, io.Discard) != command.Done || !strings.Contains(help.String(), "-policies list") {
		t.Errorf("--help: got %v, %v: %s", err, flag.ErrHelp, help.String())
	}
}

func TestPlanChoosesLimitsTheProxyTakes(t *testing.T) {
	f := func(wantMax, wantObject int64, wantRate float64, tr *replay, args ...string) {
		t.Helper()
		p, err := newPlan(parse(t, args...), tr)
		if err != nil {
			t.Fatal(err)
		}
		if p.maxBytes != wantMax || p.maxObjectBytes != wantObject || p.rate != wantRate {
			t.Errorf("%v: got max_bytes %d, max_object_bytes %d, rate %v; want %d, %d, %v",
				args, p.maxBytes, p.maxObjectBytes, p.rate, wantMax, wantObject, wantRate)
		}
	}
	f(4<<20, 1<<20, 17, objects(16<<20, 1000), "--capacity", "4MiB")
	f(16<<20, 3<<20, 95, objects(3<<20, 1000), "--capacity", "16MiB")
	f(1<<20, 64<<10, 4000, objects(10, 20), "--capacity", "1MiB")
	f(5_000_000, 1_250_000, 1, objects(100_000_000), "--rate", "1")
	f(8<<20, 100, 7.5, objects(0), "--capacity", "8MiB", "--max-object", "100B", "--rate", "7.5")
	f(4<<20, 768<<10, 17, objects(16<<20, 1000), "--capacity", "4MiB", "--stage", "25%")
	f(4<<20, 512<<10, 17, objects(16<<20, 1000), "--capacity", "4MiB", "--stage", "2MiB")
}

func TestPlanRefusesWhatTheProxyWould(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if _, err := newPlan(parse(t, args...), objects(16<<20)); command.Code("loadtest", err, io.Discard) != command.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want exit 2 and %q", args, err, want)
		}
	}
	f("no less than 1 MiB", "--capacity", "1%")
	f("at most a quarter of the capacity less the stage, here 1.0 MiB", "--capacity", "4MiB", "--max-object", "1025KiB")
	f("at most a quarter of the capacity less the stage, here 512 KiB", "--capacity", "4MiB", "--stage", "2MiB", "--max-object", "1MiB")
	f("half of the capacity, here 2.0 MiB", "--capacity", "4MiB", "--stage", "2049KiB")
}

func TestEdgeConfigSaysOnlyWhatIsGiven(t *testing.T) {
	p, err := newPlan(parse(t, "--capacity", "8MiB", "--more-than", "3", "--rotate-every", "0s", "--filter-capacity", "5000"), objects(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := newPlan(parse(t, "--capacity", "8MiB"), objects(1<<20))
	staged, _ := newPlan(parse(t, "--capacity", "8MiB", "--stage", "50%"), objects(1<<20))
	f := func(p *plan, name, admission, stage, rule string) {
		t.Helper()
		c := p.edgeSettings(name)
		c.listen, c.admin, c.origin = "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"
		want := `listen:
  - address: "127.0.0.1:1"
admin:
  address: "127.0.0.1:2"
origins:
  app:
    servers: ["http://127.0.0.1:3"]
admission:
  policy: ` + admission + `cache:
  memory:
    max_bytes: 8388608B
    max_object_bytes: 1048576B
` + stage + `log:
  level: warn
`
		if diff := cmp.Diff(want, string(c.yaml())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got, _ := p.rotation(c.rule.Policy); got != rule {
			t.Errorf("%s: rotation %q, want %q", name, got, rule)
		}
	}
	const none = "    stage_bytes: 0B\n"
	f(p, policyAlways, "always\n", none, "")
	f(p, "never", "never\n", none, "")
	f(p, policySecondHit, "second-hit\n  second_hit:\n    rotate_every: 0s\n    capacity: 5000\n", none, "at 5000 keys")
	f(p, policyCounting, "counting\n  counting:\n    more_than: 3\n    rotate_every: 0s\n    capacity: 5000\n", none, "at 5000 keys")
	f(plain, policySecondHit, "second-hit\n", none, "auto")
	f(staged, policyAlways, "always\n", none, "")
	f(staged, policySecondHit, "second-hit\n", "    stage_bytes: 4194304B\n", "auto")
	f(plain, policyCounting, "counting\n  counting:\n    more_than: 4\n", none, "auto")
}

func TestReportHasTheNamesOthersRead(t *testing.T) {
	regret, ratio := int64(1), 0.5
	data, err := json.Marshal(document{Results: []result{{Regret: &regret, RegretBytes: &regret, Evictions: &regret, FalsePositiveRatio: &ratio}}})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Trace   map[string]any
		Results []map[string]any
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	f := func(where string, got map[string]any, names string) {
		t.Helper()
		for name := range strings.FieldsSeq(names) {
			if _, ok := got[name]; !ok {
				t.Errorf("%s lacks %s", where, name)
			}
		}
	}
	f("trace", doc.Trace, "requests objects request_bytes unique_bytes one_hit_objects bad_lines")
	f("result", doc.Results[0], `policy more_than parameter rotate generations capacity_bytes stage_bytes eviction requests hits hit_ratio
		byte_hit_ratio writes write_bytes writes_avoided write_bytes_avoided held_back regret origin_requests origin_bytes
		false_positive_ratio p50_seconds p99_seconds
		held_back_bytes regret_bytes stage_writes stage_write_bytes promotions evictions errors late_sends worst_late_seconds server`)
	bare, _ := json.Marshal(result{})
	if bytes.Contains(bare, []byte("regret")) || bytes.Contains(bare, []byte("false_positive_ratio")) {
		t.Errorf("what was not measured is reported: %s", bare)
	}
}

func TestTable(t *testing.T) {
	d := document{
		name:  "x.tr",
		Trace: trace.Facts{Requests: 1000, Objects: 400, RequestBytes: 10 << 20, UniqueBytes: 4 << 20, OneHitObjects: 300, BadLines: 2},
		Run:   runFacts{MaxBytes: 1 << 20, MaxObjectBytes: 1 << 18, Rate: 4000, Connections: 32, Seed: 1, SkippedLines: 3, MappedObjects: 4, capacity: "25%"},
		Results: []result{
			{Policy: "always", Requests: 1000, HitRatio: 0.5, ByteHitRatio: 0.25, Writes: 500, WriteBytes: 2 << 20, Regret: new(int64), Evictions: new(int64), P50Seconds: 0.00025, P99Seconds: 0.0123},
			{Policy: "counting", Parameter: 4, Requests: 1000, Writes: 600, WriteBytes: 1 << 20, WritesAvoided: -100, WriteBytesAvoided: 1 << 20, HeldBack: 700, Regret: new(int64(690)), Evictions: new(int64), LateSends: 8, Errors: 9},
			{Policy: "nginx-min-uses-2", Requests: 1000, Writes: 400, WritesAvoided: 100, HeldBack: 77, Evictions: new(int64(5))},
			{Policy: "never", Requests: 1000, WritesAvoided: 500, HeldBack: 77, Regret: new(int64)}, // evictions are not known
		},
	}
	const head = `trace     x.tr: 1,000 requests for 400 objects, 75.00% of them asked for once; 10 MiB asked for, 4.0 MiB unique; 2 bad lines, 3 skipped, 4 targets generated
`
	f := func(want string) {
		t.Helper()
		var got strings.Builder
		if err := d.writeTable(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(head+want, got.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	f(`settings  max_bytes 1,048,576 (1.0 MiB; 25%), max_object_bytes 262,144 (256 KiB), 4,000 requests/s, 32 connections, seed 1

            policy  requests    hits  byte hits  writes  written        avoided    bytes avoided  held back  regret  saved  evictions  origin requests  origin bytes    p50     p99  late  errors
            always     1,000  50.00%     25.00%     500  2.0 MiB       0 (0.0%)       0 B (0.0%)          0       0      0          0                0           0 B  250µs  12.3ms     0       0
       counting >4     1,000   0.00%      0.00%     600  1.0 MiB  -100 (-20.0%)  1.0 MiB (50.0%)        700     690     10          0                0           0 B     0s      0s     8       9
  nginx-min-uses-2     1,000   0.00%      0.00%     400      0 B    100 (20.0%)       0 B (0.0%)          -       -      -          5                0           0 B     0s      0s     0       0
             never     1,000   0.00%      0.00%       0      0 B   500 (100.0%)       0 B (0.0%)          -       -      -          -                0           0 B     0s      0s     0       0
`)
	d.Results, d.Run.StageBytes = d.Results[1:2], 1<<18
	d.Results[0].StageWrites, d.Results[0].Promotions = 1234, 55
	f(`settings  max_bytes 1,048,576 (1.0 MiB; 25%), stage_bytes 262,144 (256 KiB) of them, max_object_bytes 262,144 (256 KiB), 4,000 requests/s, 32 connections, seed 1

       policy  requests   hits  byte hits  writes  written        avoided     bytes avoided  stage writes  promoted  held back  regret  saved  evictions  origin requests  origin bytes  p50  p99  late  errors
  counting >4     1,000  0.00%      0.00%     600  1.0 MiB  -100 (-16.7%)  1.0 MiB (100.0%)         1,234        55        700     690     10          0                0           0 B   0s   0s     8       9
`)
}

func TestSavedIsAShareOfAlways(t *testing.T) {
	d := document{Results: []result{{Policy: policyAlways, Writes: 200}, {Policy: policySecondHit, WritesAvoided: 150}}}
	if got := d.saved(policySecondHit); got != 0.75 {
		t.Errorf("got %v, want 0.75", got)
	}
	d.Results[0].Writes = 0
	if got := d.saved(policySecondHit); got != 0 {
		t.Errorf("with nothing to save: got %v, want 0", got)
	}
}
