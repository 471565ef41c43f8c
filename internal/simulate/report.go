package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"edgeproxy/internal/policy"
	"edgeproxy/internal/trace"
)

// Report is what a run found. It is plain data of the caller's.
type Report struct {
	Trace  trace.Facts
	Groups []Group // in the grid's order
	Advice []Advice

	// Unadvised are the capacities without one of them.
	Unadvised []Unadvised

	// Goal is what the recommendations serve.
	Goal Goal

	// Warnings are sentences on what makes the figures less than they seem.
	Warnings []string

	// Span is the time between the first and the last request, 0 where the log
	// has no times.
	Span time.Duration

	largest int64 // bytes of the largest object
}

// Group is what can be compared: one capacity, one disk or none, one eviction, one
// limit on objects.
type Group struct {
	CapacityBytes  int64
	DiskBytes      int64  // behind the capacity, which is the memory then; 0 is none
	DiskShare      string // as CapacityShare
	CapacityShare  string // "5%" of the unique bytes; "" where bytes were asked for
	CachedObjects  int64  // c: objects of mean size that fit into the capacity
	MaxObjectBytes int64  // of the largest object that is stored; with a stage it may be less. In memory, where there is a disk
	DiskObject     int64  // bytes of the largest object on the disk, 0 without one
	Eviction       string

	// Results begin with always, the baseline of all others, asked for or not.
	Results []Result

	// Spread says how much chance has a part in the results; nil where it has none.
	Spread *Spread

	limit int64 // bytes of an object, as asked for; 0 is what edgeproxy takes by itself
}

// Spread is how far the same setting, always, came out differently in several
// runs over the same requests: the highest less the lowest.
type Spread struct {
	Runs         int
	HitRatio     float64
	ByteHitRatio float64
	Writes       float64 // as a share of the highest
}

// Result is what one setting would have done. The JSON names are fixed, and the
// load test has the same.
type Result struct {
	Policy        string  `json:"policy"`
	MoreThan      int     `json:"more_than"`   // counting's; 0 where the policy has no threshold
	Parameter     float64 `json:"parameter"`   // of the policy, whatever it is called; 0 where it has none
	Rotate        string  `json:"rotate"`      // the rule in words; "" where the policy has no window
	Generations   int     `json:"generations"` // 0 where the policy has no window
	CapacityBytes int64   `json:"capacity_bytes"`
	StageBytes    int64   `json:"stage_bytes"` // of, and inside, the capacity
	Eviction      string  `json:"eviction"`

	Requests          int64   `json:"requests"`
	Hits              int64   `json:"hits"`
	HitRatio          float64 `json:"hit_ratio"`
	ByteHitRatio      float64 `json:"byte_hit_ratio"`
	Writes            int64   `json:"writes"` // to the main part, what leaves the stage for it included
	WriteBytes        int64   `json:"write_bytes"`
	WritesAvoided     int64   `json:"writes_avoided"`      // those of always less these
	WriteBytesAvoided int64   `json:"write_bytes_avoided"` // those of always less these
	HeldBack          int64   `json:"held_back"`
	Regret            int64   `json:"regret"`
	TooLarge          int64   `json:"too_large"`             // fills of objects larger than may be stored
	HeadMisses        int64   `json:"head_misses,omitempty"` // HEADs that nothing stored answered; neither stored nor held back
	OriginRequests    int64   `json:"origin_requests"`
	OriginBytes       int64   `json:"origin_bytes"`

	// Of a disk; absent without one. Writes go to it then, and disk_write_bytes are
	// those of its device: heads, padding, and what was written again to be kept.
	DiskBytes             int64   `json:"disk_bytes,omitempty"`
	DiskHits              int64   `json:"disk_hits,omitempty"`
	DiskHitBytes          int64   `json:"disk_hit_bytes,omitempty"`
	DiskWriteBytes        int64   `json:"disk_write_bytes,omitempty"`
	DiskWriteBytesAvoided int64   `json:"disk_write_bytes_avoided,omitempty"` // those of always less these
	DiskRewrittenBytes    int64   `json:"disk_rewritten_bytes,omitempty"`
	WriteAmplification    float64 `json:"write_amplification,omitempty"` // disk_write_bytes by write_bytes
	MemoryWrites          int64   `json:"memory_writes,omitempty"`       // copies from the disk
	MemoryWriteBytes      int64   `json:"memory_write_bytes,omitempty"`

	// FalsePositiveRatio is that of the filter, of the requests whose verdict
	// exact sets would have turned round; absent where there is no filter.
	FalsePositiveRatio *float64 `json:"false_positive_ratio,omitempty"`

	FilterBytes       int64   `json:"filter_bytes,omitempty"` // of the filter that was simulated; absent where there is none
	MaxObjectBytes    int64   `json:"max_object_bytes"`
	FalsePositiveRate float64 `json:"false_positive_rate,omitempty"` // asked for
	Exact             bool    `json:"exact"`                         // sets in the place of filters
	WindowObjects     int64   `json:"window_objects,omitempty"`      // C, by the end of the log, of a window that is fitted to it
	StageWrites       int64   `json:"stage_writes"`
	Promotions        int64   `json:"promotions"`
	Evictions         int64   `json:"evictions"`
	StoresNeverHit    int64   `json:"stores_never_hit"`
	RequestsPerSecond float64 `json:"requests_per_second"` // replayed, on one core
	Pareto            bool    `json:"pareto"`              // no other has fewer writes and more byte hits
	Recommended       bool    `json:"recommended"`
	Thin              bool    `json:"thin,omitempty"`     // too few windows or writes to be recommended
	Baseline          bool    `json:"baseline,omitempty"` // always, which the others of its group are compared with

	asked    string // the setting as it was asked for
	rotation Rotation
	windowed bool
	unasked  bool  // nobody asked for it, and it is here to compare with
	keys     int64 // of a generation, for edgeproxy's own filter
	held     int64 // keys of a generation on average, where they are not its length
	rounds   int64 // rotations
	extra    int64 // origin bytes above those of always
	filter   int64 // bytes of edgeproxy's own filter with so many keys
}

// name returns the policy with its parameter.
func (r *Result) name() string { return r.rule().Name() }

// rule returns what the setting decided by.
func (r *Result) rule() policy.Rule {
	rule, err := policy.RuleOf(r.Policy, r.Parameter)
	if err != nil {
		panic(err) // it came from a rule
	}
	return rule
}

// WriteJSON writes the report as one document: the trace's facts, and the
// results of all settings that were asked for and of the baselines.
func (r *Report) WriteJSON(w io.Writer) error {
	document := struct {
		Trace   trace.Facts `json:"trace"`
		Results []Result    `json:"results"`
	}{r.Trace, []Result{}}
	for i := range r.Groups {
		document.Results = append(document.Results, r.Groups[i].Results...)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
