package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
)

// The traces and the distribution, by their files.
const (
	adaptsize  = "adaptsize.tr"
	nasa       = "nasa-1995-08-01.tsv"
	apache     = "apache-combined-2015.log"
	popularity = "akamai-tc-popularity.txt"
)

// What simulate writes of a rotation begins with these words.
const (
	byRequests = "every "
	byKeys     = "at "
	never      = "never"
	fitted     = "auto"
)

// asReference returns the flags of what the reference knows: GETs alone, and no limit
// of an object but the cache. It evicts by LRU.
func asReference() []string {
	return []string{"--get-only", "--max-object", "1000GiB", "--eviction", "lru"}
}

// simulator runs edgeproxy simulate.
type simulator struct {
	program string
	traces  string // folder
	objects int    // how many the popularity model has
}

// report is what simulate --json prints, as far as it is used here.
type report struct {
	Trace struct {
		Requests    int64 `json:"requests"`
		Objects     int64 `json:"objects"`
		UniqueBytes int64 `json:"unique_bytes"`
	} `json:"trace"`
	Results []result `json:"results"`

	command string // what a reader types, in the folder with the traces
}

// result is that of one setting.
type result struct {
	Policy        string  `json:"policy"`
	Rotate        string  `json:"rotate"`
	CapacityBytes int64   `json:"capacity_bytes"`
	StageBytes    int64   `json:"stage_bytes"`
	HitRatio      float64 `json:"hit_ratio"`
	ByteHitRatio  float64 `json:"byte_hit_ratio"`
	Writes        int64   `json:"writes"`
	WriteBytes    int64   `json:"write_bytes"`
	OriginBytes   int64   `json:"origin_bytes"`
	PeerRequests  int64   `json:"peer_requests"`
}

// run replays log, a file of the traces' folder or a distribution there with
// settings behind it, over the grid of the flags.
func (s simulator) run(ctx context.Context, log string, flags ...string) (*report, error) {
	return s.runAsIs(ctx, log, append(flags, asReference()...)...)
}

// runAsIs is run with these flags alone.
func (s simulator) runAsIs(ctx context.Context, log string, flags ...string) (*report, error) {
	r := &report{command: "edgeproxy simulate " + strings.Join(append(flags, log), " ")}
	scheme, file, made := strings.Cut(log, ":")
	if made {
		scheme += ":"
	} else {
		scheme, file = "", log
	}
	args := append([]string{"simulate", "--json"}, append(flags, scheme+filepath.Join(s.traces, file))...)
	cmd := exec.CommandContext(ctx, s.program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", r.command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("%s: read its JSON: %w", r.command, err)
	}
	return r, nil
}

// setting selects one result of a report.
type setting struct {
	share  int64  // a share of the unique bytes, in percent
	policy string // always, second-hit or counting
	rotate string // how the rotation begins; "" for always
	stage  int64  // a share of the capacity, in percent
}

// find returns the result of a setting.
func (r *report) find(want setting) (*result, error) {
	for i := range r.Results {
		got := &r.Results[i]
		if got.Policy == want.policy && strings.HasPrefix(got.Rotate, want.rotate) && (want.rotate != "" || got.Rotate == "") &&
			percent(got.CapacityBytes, r.Trace.UniqueBytes) == want.share && percent(got.StageBytes, got.CapacityBytes) == want.stage {
			return got, nil
		}
	}
	return nil, fmt.Errorf("%s: has no result for %+v", r.command, want)
}

// percent returns part of whole in whole percent.
func percent(part, whole int64) int64 {
	return int64(math.Round(100 * float64(part) / float64(max(whole, 1))))
}

// cut returns how much less than of that is, as a share; above 0 is less.
func cut(that, of int64) float64 { return 1 - float64(that)/float64(max(of, 1)) }

// points returns a difference of ratios in percentage points.
func points(a, b float64) float64 { return 100 * (a - b) }
