package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"edgeproxy/internal/lab/trace"
)

// document is the report. trace and results have the same form as in edgeproxy
// simulate; run and warnings are the load test's own.
type document struct {
	Trace    trace.Facts `json:"trace"`
	Results  []result    `json:"results"`
	Run      runFacts    `json:"run"`
	Warnings []string    `json:"warnings"`
	Bars     []string    `json:"bars,omitempty"` // the thresholds that were set, and whether they hold
	name     string
	tracks   []curveData // data of the curves, one for each result

	forecasts map[string]*forecast // keys are policies
}

// runFacts is the setup of the run: what is needed to repeat it.
type runFacts struct {
	MaxBytes       int64   `json:"max_bytes"`
	MaxObjectBytes int64   `json:"max_object_bytes"`
	Rate           float64 `json:"rate"` // requests a second
	Connections    int     `json:"connections"`
	DiskBytes      int64   `json:"disk_bytes"`  // the size of every proxy's cache; 0: no disk
	StageBytes     int64   `json:"stage_bytes"` // part of max_bytes, for policies that hold back
	MaxAgeSeconds  float64 `json:"max_age_seconds"`
	Seed           uint64  `json:"seed"`
	SkippedLines   int64   `json:"skipped_lines"`  // lines that are no GET answered with 200 or 304
	MappedObjects  int     `json:"mapped_objects"` // sent under a generated target
	Runs           int     `json:"runs"`           // the results are their means
	capacity       string
	disk           string
}

// result is one policy's row. Ratios are in [0, 1]. avoided = the writes of always
// minus these.
type result struct {
	Policy             string   `json:"policy"`
	MoreThan           int      `json:"more_than"` // counting's parameter; 0 for other policies
	Parameter          float64  `json:"parameter"` // the policy's; 0 if it has none
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
	DeviceBytes        *int64   `json:"device_bytes,omitempty"` // written to block devices by its processes; only with a disk
	WritesAvoided      int64    `json:"writes_avoided"`
	WriteBytesAvoided  int64    `json:"write_bytes_avoided"`
	HeldBack           int64    `json:"held_back"`
	Regret             *int64   `json:"regret,omitempty"` // unknown for nginx
	OriginRequests     int64    `json:"origin_requests"`
	OriginBytes        int64    `json:"origin_bytes"`
	FalsePositiveRatio *float64 `json:"false_positive_ratio,omitempty"`
	P50Seconds         float64  `json:"p50_seconds"`
	P99Seconds         float64  `json:"p99_seconds"`

	Server           string  `json:"server"`
	Folder           string  `json:"folder,omitempty"` // with its files
	HeldBackBytes    int64   `json:"held_back_bytes"`
	RegretBytes      *int64  `json:"regret_bytes,omitempty"`
	StageWrites      int64   `json:"stage_writes"` // not part of writes
	StageWriteBytes  int64   `json:"stage_write_bytes"`
	Promotions       int64   `json:"promotions"`          // from the stage; part of writes
	Evictions        *int64  `json:"evictions,omitempty"` // unknown for Traffic Server
	Errors           int64   `json:"errors"`
	LateSends        int64   `json:"late_sends"`
	WorstLateSeconds float64 `json:"worst_late_seconds"`

	Foretold *forecast `json:"foretold,omitempty"` // with a disk, of edgeproxy
}

// saved returns the writes that holding back saved, by the proxy's own estimate: held
// back minus regret. It is 0 if regret is not measured.
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

// add appends the result of one policy. The first must be that of always: the others are
// compared with it.
func (d *document) add(r *policyRun) {
	c, t, s := &r.counts, r.tally, &r.setting
	res := result{
		Policy: s.policy, Parameter: s.parameter, Rotate: s.rotate, Generations: s.generations,
		CapacityBytes: s.capacityBytes, StageBytes: s.stageBytes, Eviction: s.eviction, Server: r.server, Folder: r.folder,
		Requests: c.requests, Hits: c.hits, HitRatio: c.hitRatio(), ByteHitRatio: c.byteHitRatio(),
		Writes: c.writes, WriteBytes: c.writeBytes, DeviceBytes: r.deviceBytes,
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
	d.tracks = append(d.tracks, newCurveData(res.name(), append(r.samples, *c), t, r.sampleCost))
	for _, w := range r.warnings {
		d.Warnings = append(d.Warnings, s.policy+": "+w)
	}
}

// saved returns the share of always' writes that a policy avoided; 0 if always wrote
// nothing.
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

// writeFile creates the file at path with what write writes.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := write(file); err != nil {
		_ = file.Close() // the first error is returned
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
