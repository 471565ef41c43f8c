package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// Report is the result of a run. It is plain data, which the caller owns.
type Report struct {
	Trace  trace.Facts
	Groups []Group // in the grid's order
	Advice []Advice

	// Unadvised are the capacities without Advice.
	Unadvised []Unadvised

	// Goal is what the recommendations optimize.
	Goal Goal

	// Warnings are sentences on what limits the figures.
	Warnings []string

	// Span is the time between the first and the last request, 0 if the log has
	// no times.
	Span time.Duration

	largest int64 // bytes of the largest object

	fleet model.Fleet // zero: one cache
}

// Group is settings that can be compared: they have the same capacity, disk, eviction
// and limit on objects.
type Group struct {
	CapacityBytes  int64
	DiskBytes      int64  // size of the disk tier; the capacity is the memory tier then. 0 is none
	DiskShare      string // the same for DiskBytes
	CapacityShare  string // "5%" of the unique bytes; "" if bytes were asked for
	CachedObjects  int64  // c: objects of mean size that fit into the capacity, or onto the disk if there is one
	MaxObjectBytes int64  // bytes of the largest object that is stored, in memory if there is a disk; with a stage it may be less
	DiskObject     int64  // bytes of the largest object on the disk, 0 without one
	Eviction       string

	// Results begin with the baseline, always, even if nobody asked for it.
	Results []Result

	// Spread says how much results vary by chance; nil if nothing is random.
	Spread *Spread

	limit int64 // bytes of an object, as asked for; 0 is edgeproxy's default
}

// Spread is the difference between several runs of the same setting, always, over
// the same requests: the highest less the lowest.
type Spread struct {
	Runs         int
	HitRatio     float64
	ByteHitRatio float64
	Writes       float64 // share of the highest number of writes
}

// Result is the figures of one setting. The JSON names are fixed: the load test has the
// same ones.
type Result struct {
	Policy        string  `json:"policy"`
	MoreThan      int     `json:"more_than"`   // parameter of counting; 0 for other policies
	Parameter     float64 `json:"parameter"`   // parameter of the policy, whatever its name; 0 if it has none
	Rotate        string  `json:"rotate"`      // the rotation in words; "" if the policy has no window
	Generations   int     `json:"generations"` // 0 if the policy has no window
	CapacityBytes int64   `json:"capacity_bytes"`
	StageBytes    int64   `json:"stage_bytes"` // part of the capacity
	Eviction      string  `json:"eviction"`

	Requests          int64   `json:"requests"`
	Hits              int64   `json:"hits"`
	HitRatio          float64 `json:"hit_ratio"`
	ByteHitRatio      float64 `json:"byte_hit_ratio"`
	Writes            int64   `json:"writes"` // to the main part, including objects that move there from the stage
	WriteBytes        int64   `json:"write_bytes"`
	WritesAvoided     int64   `json:"writes_avoided"`      // writes of always less these
	WriteBytesAvoided int64   `json:"write_bytes_avoided"` // bytes that always writes less these
	HeldBack          int64   `json:"held_back"`
	Regret            int64   `json:"regret"`
	TooLarge          int64   `json:"too_large"`             // fills of objects larger than may be stored
	HeadMisses        int64   `json:"head_misses,omitempty"` // HEADs that nothing stored answered; neither stored nor held back
	OriginRequests    int64   `json:"origin_requests"`
	OriginBytes       int64   `json:"origin_bytes"`

	// These are for a disk, and absent without one. Writes are writes to the disk then.
	// disk_write_bytes is what its device writes: with heads, padding, and objects that were
	// written again to be kept.
	DiskBytes             int64   `json:"disk_bytes,omitempty"`
	DiskHits              int64   `json:"disk_hits,omitempty"`
	DiskHitBytes          int64   `json:"disk_hit_bytes,omitempty"`
	DiskWriteBytes        int64   `json:"disk_write_bytes,omitempty"`
	DiskWriteBytesAvoided int64   `json:"disk_write_bytes_avoided,omitempty"` // bytes that always writes to the disk less these
	DiskRewrittenBytes    int64   `json:"disk_rewritten_bytes,omitempty"`
	WriteAmplification    float64 `json:"write_amplification,omitempty"` // disk_write_bytes by write_bytes
	MemoryWrites          int64   `json:"memory_writes,omitempty"`       // copies from the disk
	MemoryWriteBytes      int64   `json:"memory_write_bytes,omitempty"`

	// FalsePositiveRatio is the filter's share of false positives, of the requests that
	// exact sets would have decided the other way; absent if there is no filter.
	FalsePositiveRatio *float64 `json:"false_positive_ratio,omitempty"`

	FilterBytes       int64   `json:"filter_bytes,omitempty"` // bytes of the filter that was simulated; absent if there is none
	MaxObjectBytes    int64   `json:"max_object_bytes"`
	FalsePositiveRate float64 `json:"false_positive_rate,omitempty"` // asked for
	Exact             bool    `json:"exact"`                         // sets in place of filters
	WindowObjects     int64   `json:"window_objects,omitempty"`      // C at the end of the log, if the window is fitted to it
	StageWrites       int64   `json:"stage_writes"`
	Promotions        int64   `json:"promotions"`
	Evictions         int64   `json:"evictions"`
	StoresNeverHit    int64   `json:"stores_never_hit"`
	RequestsPerSecond float64 `json:"requests_per_second"` // replayed, on one core
	Pareto            bool    `json:"pareto"`              // no other has fewer writes and more byte hits
	Recommended       bool    `json:"recommended"`
	Thin              bool    `json:"thin,omitempty"`     // too few windows or writes to be recommended
	Baseline          bool    `json:"baseline,omitempty"` // always, which the others of its group are compared with

	*Edges // nil without a fleet: its members are absent then

	label        string // the setting as it was asked for
	rotation     Rotation
	windowed     bool
	onlyBaseline bool  // nobody asked for it, and it is here to compare with
	keys         int64 // keys of a generation, for edgeproxy's own filter
	meanKeys     int64 // keys of a generation on average, where they are not its length
	rotations    int64 // rotations
	extraBytes   int64 // origin bytes above those of always
	filterBytes  int64 // bytes of edgeproxy's own filter with so many keys
}

// Edges are what a Result has for a fleet. Capacity, stage, filter and window are those of one edge, counts those of all edges. Hits
// are requests that no edge asked the origin for.
type Edges struct {
	Nodes        int    `json:"nodes"`
	Balance      string `json:"balance"`
	Share        string `json:"share"`
	PeerRequests int64  `json:"peer_requests"` // requests of one edge to another
	PeerBytes    int64  `json:"peer_bytes"`    // bytes of the responses to them
}

// name returns the policy with its parameter.
func (r *Result) name() string { return r.rule().Name() }

// rule returns the setting's policy with its parameter.
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
