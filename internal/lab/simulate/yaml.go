package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
)

// Bounds and defaults of edgeproxy's configuration: package config has them.
const (
	minCacheBytes          = 1 << 20
	minStageBytes          = 4 << 10
	defaultObjectBytes     = 8 << 20
	defaultDiskObjectBytes = 1 << 30
	defaultRate            = 0.01
	defaultGenerations     = 2
	maxFalsePositiveRate   = 0.5
	objectsInCapacity      = 4 // objects of the largest size that fit in the capacity, besides the stage
	objectsOnDisk          = 8 // objects of the largest size that fit on the disk
	defaultDiskPath        = "/var/cache/edgeproxy"
)

// largeFilterBytes is the memory of a filter above which the recommendation has a remark.
const largeFilterBytes = 64 << 20

// yaml returns the sections of a configuration file that make edgeproxy work as the
// setting did. Remarks say where the two differ.
func (r *Report) yaml(g *Group, chosen *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# edgeproxy simulate --goal %s: %s.\n", r.Goal, chosen.describe())
	for _, remark := range r.remarks(g, chosen) {
		fmt.Fprintf(&b, "# %s\n", remark)
	}
	fmt.Fprintf(&b, "admission:\n  policy: %s\n", chosen.Policy)
	chosen.section(&b)
	maxBytes := max(g.CapacityBytes, minCacheBytes)
	fmt.Fprintf(&b, "cache:\n  memory:\n    max_bytes: %s\n    max_object_bytes: %s\n",
		bytesKey(maxBytes), bytesKey(objectLimit(chosen)))
	if chosen.rule().Policy.Chooses() { // without a word there is a stage
		fmt.Fprintf(&b, "    stage_bytes: %s\n", bytesKey(stageBytes(chosen)))
	}
	b.WriteString(evictionKeys(model.Eviction(g.Eviction)))
	if g.DiskBytes > 0 {
		fmt.Fprintf(&b, "  disk:\n    path: %s\n    max_bytes: %s\n    max_object_bytes: %s\n",
			defaultDiskPath, bytesKey(g.DiskBytes), bytesKey(g.DiskObject))
	}
	return b.String()
}

// evictionKeys returns the settings of the memory tier that make it evict by e. An eviction that the proxy does not have is left out.
func evictionKeys(e model.Eviction) string {
	key := func(value model.Eviction) string { return "    eviction: " + string(value) + "\n" }
	switch {
	case e == model.SizeAwareForHits:
		return key(model.SizeAware) + "    optimise: hits\n"
	case e == model.SizeAwareForBytes:
		return key(model.SizeAware) + "    optimise: bytes\n"
	case e.OfTheProxy():
		return key(e)
	}
	return ""
}

// section writes the section of the policy, if it has one.
func (r *Result) section(b *strings.Builder) {
	param := r.rule().Policy.Parameter()
	if param == nil && !r.windowed {
		return
	}
	fmt.Fprintf(b, "  %s:\n", r.rule().Policy.Section())
	if param != nil {
		fmt.Fprintf(b, "    %s: %s\n", param.Name, policy.Number(param.Of(r.rule())))
	}
	if r.windowed {
		r.writeWindow(b)
	}
}

// writeWindow writes the filter of the policy.
func (r *Result) writeWindow(b *strings.Builder) {
	every := "0s"
	if r.rotation.Unit == ByTime {
		every = shortDuration(r.rotation.Every)
	}
	s := recommendable(model.Setting{Generations: r.Generations, FalsePositiveRate: r.FalsePositiveRate})
	if r.rotation.Unit == Fitted {
		fmt.Fprintf(b, "    window: auto\n    generations: %d\n    rotate_every: %s\n    false_positive_rate: %s\n",
			s.Generations, shortDuration(r.rotation.Every), strconv.FormatFloat(s.FalsePositiveRate, 'f', -1, 64))
		return
	}
	fmt.Fprintf(b, "    window: fixed\n    generations: %d\n    rotate_every: %s\n    capacity: %d\n    false_positive_rate: %s\n",
		s.Generations, every, r.keys, strconv.FormatFloat(s.FalsePositiveRate, 'f', -1, 64))
}

// recommendable returns s with values that edgeproxy's filter accepts: defaults for missing
// ones, and the rate within its bound.
func recommendable(s model.Setting) model.Setting {
	if s.Generations == 0 {
		s.Generations = defaultGenerations
	}
	if s.FalsePositiveRate == 0 {
		s.FalsePositiveRate = defaultRate
	}
	s.FalsePositiveRate = min(s.FalsePositiveRate, maxFalsePositiveRate)
	return s
}

// stageBytes returns stage_bytes: that of the simulation, or edgeproxy's minimum if it is
// less; 0 is no stage.
func stageBytes(chosen *Result) int64 {
	if chosen.StageBytes == 0 {
		return 0
	}
	return max(chosen.StageBytes, minStageBytes)
}

// bytesKey writes a size for the configuration, exactly.
func bytesKey(n int64) string { return strconv.FormatInt(n, 10) + "B" }

// objectLimit returns max_object_bytes: that of the simulation, and at most what
// edgeproxy accepts.
func objectLimit(chosen *Result) int64 {
	most := (max(chosen.CapacityBytes, minCacheBytes) - stageBytes(chosen)) / objectsInCapacity
	return min(chosen.MaxObjectBytes, most)
}

// remarks says where edgeproxy with these keys differs from the simulation.
func (r *Report) remarks(g *Group, chosen *Result) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if remark := r.fleetRemark(); remark != "" {
		out = append(out, remark)
	}
	if chosen.windowed {
		out = append(out, r.windowRemarks(chosen)...)
	}
	if g.CapacityBytes < minCacheBytes {
		say("max_bytes: %s was simulated; edgeproxy takes no less than 1 MiB.", size(g.CapacityBytes))
	}
	if chosen.StageBytes > 0 && chosen.StageBytes < minStageBytes {
		say("stage_bytes: %s were simulated; edgeproxy takes no less than 4 KiB.", counted(chosen.StageBytes, "byte"))
	}
	if stored := min(r.largest, chosen.MaxObjectBytes); objectLimit(chosen) < stored {
		say("max_object_bytes: objects up to %s were stored; edgeproxy takes at most a quarter of the main part.", size(stored))
	}
	if g.DiskBytes > 0 {
		say("cache.disk.path: a directory of your own choice, on a file system with room for %s.", size(g.DiskBytes))
	}
	if !model.Eviction(g.Eviction).OfTheProxy() {
		say("Eviction was %s; edgeproxy has size-aware, which simulate has without --eviction, recency and ristretto, from 64 KiB on.", g.Eviction)
	}
	return out
}

// windowRemarks explains how the rotation maps to the filter's keys of the configuration.
func (r *Report) windowRemarks(chosen *Result) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	keys := humanize.Comma(chosen.keys)
	switch chosen.rotation.Unit {
	case ByKeys:
		if chosen.rotation.unreached {
			say("capacity: the log has %s, too few to fill a generation of %s keys even once, so nothing", counted(r.Trace.Objects, "key"), humanize.Comma(chosen.rotation.Count))
			say("was ever forgotten. What such a window does to a longer log it cannot tell.")
			break
		}
		say("capacity: a generation of %s keys; rotate_every 0s rotates when it is full.", keys)
	case ByTime:
		say("capacity: %s keys, room for the busiest %s of the log and more, so that time rotates it.", keys, shortDuration(chosen.rotation.Every))
	case ByRequests:
		if chosen.meanKeys == 0 { // an edge of a fleet has periods of its own
			say("capacity: edgeproxy does not rotate by requests; %s of them have at most %s keys.", humanize.Comma(chosen.rotation.Count), keys)
			break
		}
		say("capacity: edgeproxy does not rotate by requests; %s of them held %s keys on average.",
			humanize.Comma(chosen.rotation.Count), humanize.Comma(chosen.meanKeys))
		say("The nearest rule it has is by keys: --rotate-keys %d simulates it.", chosen.keys)
	case Fitted:
		say("window: auto; the cache held %s when it was full, which the window was fitted to.", counted(chosen.WindowObjects, "object"))
	case Never:
		say("capacity: edgeproxy always forgets; %s keys is this log as a whole.", keys)
	}
	out = append(out, chosen.filterRemarks()...)
	if r.Span > 0 && chosen.rotations > 0 && chosen.rotation.Unit != ByTime {
		say("In this log a generation lasted %s on average.", shortDuration(roundTime(r.Span/time.Duration(chosen.rotations))))
	}
	if chosen.Exact {
		say("Sets were simulated; a filter of this rate stores that share of the first sightings more.")
	}
	return out
}

// filterRemarks returns a remark if the proxy's filter for so many keys is large or impossible.
func (r *Result) filterRemarks() []string {
	switch {
	case r.filterBytes >= model.NoFilter:
		return []string{"edgeproxy builds no filter of that many keys at this rate."}
	case r.filterBytes > largeFilterBytes:
		return []string{fmt.Sprintf("A filter of that many keys takes %s of memory, beside the cache.", size(r.filterBytes))}
	}
	return nil
}

// roundTime rounds d for a reader.
func roundTime(d time.Duration) time.Duration {
	switch {
	case d >= time.Hour:
		return d.Round(time.Minute)
	case d >= time.Minute:
		return d.Round(time.Second)
	default:
		return d.Round(time.Millisecond)
	}
}
