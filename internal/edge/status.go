package edge

import (
	"path/filepath"
	"runtime"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/evicted"
	"edgeproxy/internal/lab/shadow"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/proxy"
)

// Status is the document of GET /status.
type Status struct {
	Node      string          `json:"node"`
	Version   string          `json:"version"`
	Go        string          `json:"go"`
	Started   time.Time       `json:"started"`
	Uptime    float64         `json:"uptime_seconds"`
	Lately    float64         `json:"lately_seconds"`    // the span of all fields named lately: a minute, or a little more
	LastHour  float64         `json:"last_hour_seconds"` // the span of all fields named last_hour: an hour, or a little more
	Ready     bool            `json:"ready"`
	Problems  []Problem       `json:"problems"`
	Limit     ProblemLimits   `json:"problem_limits"`
	Addresses []string        `json:"addresses"`
	Requests  proxy.Status    `json:"requests"`
	Limits    LimitsStatus    `json:"limits"`
	Cache     CacheStatus     `json:"cache"`
	Origins   []OriginStatus  `json:"origins"`
	Admission AdmissionStatus `json:"admission"`
	Filters   []FilterStatus  `json:"filters"`
	Config    *ReloadStatus   `json:"config,omitempty"`     // only if there is a configuration file
	AccessLog *LogStatus      `json:"access_log,omitempty"` // only if there is an access log

	Certificates     []CertificateStatus `json:"certificates,omitempty"` // the certificates that expire first
	CertificateCount int                 `json:"certificate_count,omitempty"`
}

// AdmissionStatus is the gate, the state file and the shadow policies.
type AdmissionStatus struct {
	GateOpen bool                 `json:"gate_open"`
	State    *StateStatus         `json:"state,omitempty"`
	Shadow   []shadow.PolicyStats `json:"shadow,omitempty"`
}

// StateStatus is the file with saved sightings.
type StateStatus struct {
	File     string     `json:"file"`
	Saves    int64      `json:"saves"`
	Failures int64      `json:"failures"`
	Saved    *time.Time `json:"saved,omitempty"`
	Bytes    int64      `json:"bytes"`
}

// LogStatus is the access log. Path is absolute, "-" for standard output, or a syslog server as in the configuration.
type LogStatus struct {
	Path   string `json:"path"`
	Format string `json:"format"` // json, combined or template
}

// CacheStatus is the memory tier, and the stage and the disk tier if there are any.
type CacheStatus struct {
	TierStatus
	Stage *TierStatus `json:"stage,omitempty"`
	Disk  *DiskStatus `json:"disk,omitempty"`
}

// TierStatus is one tier of the cache. Evictions are counted by cause.
type TierStatus struct {
	Objects        int64            `json:"objects"`
	Bytes          int64            `json:"bytes"`
	MaxBytes       int64            `json:"max_bytes"`
	ObjectsHit     int64            `json:"objects_hit"` // this and the next two: see cache.HitPart
	BytesHit       int64            `json:"bytes_hit"`
	ObjectsSampled int64            `json:"objects_sampled"`
	Writes         int64            `json:"writes"`
	WriteBytes     int64            `json:"write_bytes"`
	Evictions      map[string]int64 `json:"evictions"`
	StoresNeverHit int64            `json:"stores_never_hit"`
	EvictedBySize  []EvictedStatus  `json:"evicted_by_size"`
	Replaced       int64            `json:"replaced"`
	Purged         int64            `json:"purged"`
	Promoted       int64            `json:"promoted,omitempty"`   // from the stage to the memory tier
	Outweighed     int64            `json:"outweighed,omitempty"` // see cache.TierStats

	// EvictionAge is the age in seconds of recently evicted objects, by cause; see cache.TierStats. Causes that have
	// evicted nothing are not in it.
	EvictionAge map[string]float64 `json:"eviction_age_seconds"`
}

// EvictedStatus has the evictions of one class of sizes; see cache.TierStats.
type EvictedStatus struct {
	Size            string `json:"size"`                  // the bound of the class, as in metrics
	UpTo            int64  `json:"up_to_bytes,omitempty"` // the last class has no bound
	Objects         int64  `json:"objects"`
	Bytes           int64  `json:"bytes"`
	NeverHitObjects int64  `json:"never_hit_objects"`
	NeverHitBytes   int64  `json:"never_hit_bytes"`
}

// FilterStatus is one filter of sightings and its window. Rotations are counted by cause.
type FilterStatus struct {
	Name               string           `json:"name"`
	Generations        []Generation     `json:"generations"`
	FalsePositiveRatio float64          `json:"false_positive_ratio_expected"` // computed from the current fill
	Measured           Measured         `json:"measured"`
	WindowSeconds      float64          `json:"window_seconds"`
	WindowKeys         int64            `json:"window_keys"`
	WindowObjects      int64            `json:"window_objects,omitempty"` // only of fitted windows
	Bytes              int64            `json:"bytes"`
	Rotations          map[string]int64 `json:"rotations"`
}

// Measured has the false positives that a sample of keys, remembered exactly, has found. The
// ratios cover the last generations, the counts everything since the start.
type Measured struct {
	FalsePositiveRatio float64 `json:"false_positive_ratio"`
	Expected           float64 `json:"false_positive_ratio_expected"` // mean over the same sightings
	RatioUnseen        int64   `json:"ratio_unseen"`                  // sightings behind the ratio
	Unseen             int64   `json:"unseen"`
	FalsePositives     int64   `json:"false_positives"`
	FalseNegatives     int64   `json:"false_negatives"`
	Share              float64 `json:"share_of_keys"`
	Keys               int     `json:"keys"`
	Capacity           int     `json:"capacity"`
}

// Generation is one generation of a filter: the sightings of one stretch of its window.
type Generation struct {
	FillRatio float64 `json:"fill_ratio"`
	Keys      int64   `json:"keys"`
	Age       float64 `json:"age_seconds"`
}

// Status returns the document of GET /status at this moment.
func (e *Edge) Status() *Status {
	now := time.Now()
	since, hour := e.recent.since(now), e.recent.sinceHour()
	s := &Status{
		Node: e.config.Node.Name, Version: e.version, Go: runtime.Version(),
		Started: e.started.UTC().Round(time.Millisecond), Uptime: now.Sub(e.started).Seconds(), Ready: e.ready.Load(),
		Addresses: e.Addresses(), Requests: e.proxy.StatusSince(since.requests, hour), Cache: e.cacheStatus(), Filters: []FilterStatus{},
		Admission: e.admissionStatus(), Config: e.reloader.status(),
		Lately: now.Sub(since.at).Seconds(), Limits: e.limitsStatus(since),
	}
	if !hour.At.IsZero() {
		s.LastHour = now.Sub(hour.At).Seconds()
	}
	bytes := 0.0 // bytes of all origins in a second
	for _, o := range e.now.Load().origins {
		s.Origins = append(s.Origins, statusOfOrigin(o, now, since))
		bytes += s.Origins[len(s.Origins)-1].ByteRateLately
	}
	s.Requests.Totals.Lately.OriginByteRate = &bytes
	s.Certificates, s.CertificateCount = e.certificatesStatus(now)
	if path := e.config.AccessLog.Path; path != "" {
		s.AccessLog = &LogStatus{Path: path, Format: e.now.Load().config.AccessLog.Format.String()}
		if absolute, err := filepath.Abs(path); err == nil && path != "-" && !accesslog.Remote(path) {
			s.AccessLog.Path = absolute
		}
	}
	for _, f := range e.gate.Stats(now) {
		s.Filters = append(s.Filters, statusOfFilter(f, now))
	}
	s.Problems, s.Limit = s.problems(), problemLimits()
	return s
}

// History returns the document of GET /status/history at this moment.
func (e *Edge) History() *History { return e.recent.lastHour() }

func (sg *storage) cacheStatus() CacheStatus {
	c, hit := sg.store.Stats(), sg.store.HitParts()
	s := CacheStatus{TierStatus: statusOfTier(c.TierStats, hit.Memory), Disk: sg.diskStatus(c.Disk, hit.Disk)}
	if c.Stage.MaxBytes > 0 {
		stage := statusOfTier(c.Stage, hit.Stage)
		s.Stage = &stage
	}
	return s
}

func statusOfTier(t cache.TierStats, hit cache.HitPart) TierStatus {
	return TierStatus{
		ObjectsHit: hit.Objects, BytesHit: hit.Bytes, ObjectsSampled: hit.Sampled, EvictedBySize: statusOfEvicted(&t.Evicted),
		Objects: t.Objects, Bytes: t.Bytes, MaxBytes: t.MaxBytes, Writes: t.Writes, WriteBytes: t.WriteBytes,
		Replaced: t.Replaced, Purged: t.Purged, Promoted: t.Promoted, Outweighed: t.Outweighed, StoresNeverHit: t.NeverHit,
		Evictions: map[string]int64{"capacity": t.Capacity, "rejected": t.Rejected, "variants": t.Variants}, EvictionAge: evictionAges(t),
	}
}

func statusOfEvicted(counts *evicted.Counts) []EvictedStatus {
	out := make([]EvictedStatus, evicted.Classes)
	for class := range evicted.Class(evicted.Classes) {
		all, neverHit := counts.All(class), counts.NeverHit[class]
		out[class] = EvictedStatus{
			Size: class.String(), UpTo: class.Bound(), Objects: all.Objects, Bytes: all.Bytes,
			NeverHitObjects: neverHit.Objects, NeverHitBytes: neverHit.Bytes,
		}
	}
	return out
}

func evictionAges(t cache.TierStats) map[string]float64 {
	out := map[string]float64{}
	for cause, age := range map[string]time.Duration{"capacity": t.CapacityAge, "rejected": t.RejectedAge, "variants": t.VariantsAge} {
		if age > 0 {
			out[cause] = age.Seconds()
		}
	}
	return out
}

func (sg *storage) admissionStatus() AdmissionStatus {
	s := AdmissionStatus{GateOpen: sg.gate.Open()}
	if path := sg.config.Admission.State; path != "" {
		st := sg.gate.StateStats()
		s.State = &StateStatus{File: path, Saves: st.Saves, Failures: st.Failures, Bytes: st.Bytes}
		if !st.Saved.IsZero() {
			s.State.Saved = &st.Saved
		}
	}
	if sg.shadow != nil {
		s.Shadow = sg.shadow.Stats()
	}
	return s
}

func statusOfFilter(f admission.FilterStats, now time.Time) FilterStatus {
	s := FilterStatus{
		Name: f.Name, FalsePositiveRatio: f.FalsePositiveRatio, WindowSeconds: f.Window.Seconds(), WindowKeys: f.Keys,
		Bytes: f.Bytes, Rotations: map[string]int64{"time": f.Rotations.Time, "full": f.Rotations.Full, "fitted": f.Rotations.Fitted},
		WindowObjects: f.Objects,
	}
	m := f.Measured
	s.Measured = Measured{
		FalsePositiveRatio: m.Ratio, Expected: m.Expected, RatioUnseen: m.HorizonUnseen, Unseen: m.Unseen,
		FalsePositives: m.FalsePositives, FalseNegatives: m.FalseNegatives, Share: m.Share, Keys: m.Keys, Capacity: m.Capacity,
	}
	for _, g := range f.Generations {
		s.Generations = append(s.Generations, Generation{g.FillRatio, g.Keys, max(now.Sub(g.Start).Seconds(), 0)})
	}
	return s
}
