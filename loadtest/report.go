package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"edgeproxy/internal/trace"
)

// document is the report. trace and results have the form that edgeproxy simulate
// prints too; run and warnings are the load test's own.
type document struct {
	Trace    trace.Facts `json:"trace"`
	Results  []result    `json:"results"`
	Run      runFacts    `json:"run"`
	Warnings []string    `json:"warnings"`
	Bars     []string    `json:"bars,omitempty"` // those that were asked for, and whether they hold
	name     string
	tracks   []track // what the curves are made of, one for each result

	forecasts map[string]*forecast // by policy
}

// runFacts is how the run was set up: what is needed to repeat it.
type runFacts struct {
	MaxBytes       int64   `json:"max_bytes"`
	MaxObjectBytes int64   `json:"max_object_bytes"`
	Rate           float64 `json:"rate"` // requests a second
	Connections    int     `json:"connections"`
	DiskBytes      int64   `json:"disk_bytes"`  // of every proxy's cache then; 0 where there is no disk
	StageBytes     int64   `json:"stage_bytes"` // part of max_bytes, of the policies that hold back
	MaxAgeSeconds  float64 `json:"max_age_seconds"`
	Seed           uint64  `json:"seed"`
	SkippedLines   int64   `json:"skipped_lines"`  // no GET answered with 200 or 304
	MappedObjects  int     `json:"mapped_objects"` // sent under a made-up target
	Runs           int     `json:"runs"`           // whose means the results are
	capacity       string
	disk           string
}

// result is one policy's line. Ratios are in [0, 1]; avoided = those of always
// minus these.
type result struct {
	Policy             string   `json:"policy"`
	MoreThan           int      `json:"more_than"` // counting's; 0 where it does not apply
	Parameter          float64  `json:"parameter"` // of the policy, whatever it is called; 0 where it has none
	Rotate             string   `json:"rotate"`
	Generations        int      `json:"generations"`
	CapacityBytes      int64    `json:"capacity_bytes"`
	StageBytes         int64    `json:"stage_bytes"`
	Eviction           string   `json:"eviction"`
	Requests           int64    `json:"requests"`
	Hits               int64    `json:"hits"`
	HitRatio           float64  `json:"hit_ratio"`
	ByteHitRatio       float64  `json:"byte_hit_ratio"`
	Writes             int64    `json:"writes"`
	WriteBytes         int64    `json:"write_bytes"`
	DeviceBytes        *int64   `json:"device_bytes,omitempty"` // that its processes had written to block devices, with a disk
	WritesAvoided      int64    `json:"writes_avoided"`
	WriteBytesAvoided  int64    `json:"write_bytes_avoided"`
	HeldBack           int64    `json:"held_back"`
	Regret             *int64   `json:"regret,omitempty"` // of nginx it is not known
	OriginRequests     int64    `json:"origin_requests"`
	OriginBytes        int64    `json:"origin_bytes"`
	FalsePositiveRatio *float64 `json:"false_positive_ratio,omitempty"`
	P50Seconds         float64  `json:"p50_seconds"`
	P99Seconds         float64  `json:"p99_seconds"`

	Server           string  `json:"server"`
	Folder           string  `json:"folder,omitempty"` // where it keeps its files
	HeldBackBytes    int64   `json:"held_back_bytes"`
	RegretBytes      *int64  `json:"regret_bytes,omitempty"`
	StageWrites      int64   `json:"stage_writes"` // not part of writes
	StageWriteBytes  int64   `json:"stage_write_bytes"`
	Promotions       int64   `json:"promotions"`          // from the stage; part of writes
	Evictions        *int64  `json:"evictions,omitempty"` // of Traffic Server they are not known
	Errors           int64   `json:"errors"`
	LateSends        int64   `json:"late_sends"`
	WorstLateSeconds float64 `json:"worst_late_seconds"`

	Foretold *forecast `json:"foretold,omitempty"` // with a disk, of edgeproxy
}

// saved is the writes that holding back saved, as far as the proxy can tell by
// itself; 0 where regret is not measured, as held back alone says nothing.
func (r *result) saved() int64 {
	if r.Regret == nil {
		return 0
	}
	return r.HeldBack - *r.Regret
}

func newDocument(p *plan) *document {
	return &document{
		Trace: p.facts,
		Run: runFacts{
			MaxBytes: p.maxBytes, MaxObjectBytes: p.maxObjectBytes, Rate: p.rate, Connections: p.connections, Seed: p.seed,
			Runs: 1, StageBytes: p.stageBytes, DiskBytes: p.diskBytes, disk: p.disk.text, MaxAgeSeconds: p.maxAge.Seconds(),
			SkippedLines: p.facts.Skipped, MappedObjects: p.replay.mapped, capacity: p.capacity.text,
		},
		Warnings: []string{},
		name:     p.replay.name, forecasts: p.forecasts,
	}
}

// add appends the outcome of one policy. The first must be always: the others are
// compared with it.
func (d *document) add(r *policyRun) {
	c, t, s := &r.counts, r.tally, &r.setting
	res := result{
		Policy: s.policy, Parameter: s.parameter, Rotate: s.rotate, Generations: s.generations,
		CapacityBytes: s.capacityBytes, StageBytes: s.stageBytes, Eviction: s.eviction, Server: r.server, Folder: r.folder,
		Requests: c.requests, Hits: c.hits, HitRatio: c.hitRatio(), ByteHitRatio: c.byteHitRatio(),
		Writes: c.writes, WriteBytes: c.writeBytes, DeviceBytes: r.toDisk,
		StageWrites: c.stageWrites, StageWriteBytes: c.stageWriteBytes, Promotions: c.promotions,
		HeldBack: c.heldBack, HeldBackBytes: c.heldBackBytes, Regret: c.regret, RegretBytes: c.regretBytes,
		OriginRequests: c.originRequests, OriginBytes: c.originBytes,
		FalsePositiveRatio: c.measuredFalsePositives(), Evictions: c.knownEvictions(),
		P50Seconds: t.quantile(0.5), P99Seconds: t.quantile(0.99),
		Errors: t.errors, LateSends: t.late, WorstLateSeconds: t.worstLate.Seconds(),
		Foretold: d.forecasts[s.policy],
	}
	if s.policy == policyCounting {
		res.MoreThan = int(s.parameter)
	}
	if len(d.Results) > 0 {
		always := &d.Results[0]
		res.WritesAvoided = always.Writes - res.Writes
		res.WriteBytesAvoided = always.WriteBytes - res.WriteBytes
	}
	d.Results = append(d.Results, res)
	d.tracks = append(d.tracks, newTrack(res.name(), append(r.looks, *c), t, r.lookCost))
	for _, w := range r.warnings {
		d.Warnings = append(d.Warnings, s.policy+": "+w)
	}
}

// saved returns the share of always' writes that a policy avoided; 0 when there
// is nothing to save.
func (d *document) saved(policy string) float64 {
	for i := range d.Results {
		if d.Results[i].Policy == policy {
			return ratio(d.Results[i].WritesAvoided, d.Results[0].Writes)
		}
	}
	return 0
}

func (d *document) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write the JSON report: %w", err)
	}
	return nil
}

// writeFile lets write fill the file at path.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := write(file); err != nil {
		_ = file.Close() // the first fault is the one to tell
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
