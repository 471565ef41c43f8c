package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// group is settings that can be compared: they have the same capacity, disk, eviction
// and limit on objects.
type group struct {
	capacity     Amount // capacity that was asked for
	bytes        int64
	disk         Amount // disk that was asked for
	diskBytes    int64  // 0: none
	cached       int64  // c, the number of objects of mean size that fit; onto the disk if there is one
	limit        int64  // bytes of the largest object as asked for; 0 is edgeproxy's default
	maxObject    int64  // bytes of the largest object that is stored if there is no stage
	eviction     model.Eviction
	points       []point // the first is always, the baseline
	onlyBaseline bool    // nobody asked for the baseline
	repeats      []point // more runs of the baseline, where chance has a part in it
}

// point is one setting, and how it was asked for.
type point struct {
	model.Setting
	rotation Rotation // without meaning if the policy has no window
	label    string   // what was asked for, the same at every capacity

	result model.Result
	busy   time.Duration // time of one core, for all requests
}

// name returns the policy with its parameter.
func (p *point) name() string { return p.Name() }

// groups returns all combinations of the grid for a log with these facts.
func (g Grid) groups(facts trace.Facts, hasTimes bool) ([]*group, error) {
	g = g.defaults()
	if err := g.check(hasTimes); err != nil {
		return nil, err
	}
	var out []*group
	for _, gr := range g.sizes(facts) {
		if gr.bytes < 1 {
			return nil, &GridError{"capacity", gr.capacity.share(), "more than 0 bytes, such as a size; this log has " +
				counted(facts.UniqueBytes, "unique byte")}
		}
		gr.cached = cached(gr.gatedBytes(), facts)
		if slices.ContainsFunc(out, gr.sameResults) {
			continue
		}
		if err := g.fill(gr, facts); err != nil {
			return nil, err
		}
		out = append(out, gr)
	}
	return out, nil
}

// sizes returns a group without settings for each size, eviction and limit.
func (g Grid) sizes(facts trace.Facts) []*group {
	var out []*group
	for _, c := range g.Capacities {
		bytes := c.bytesOf(facts.ChargedBytes())
		for _, d := range g.Disks {
			for _, e := range g.evictions(bytes) {
				for _, m := range g.MaxObjects {
					gr := &group{capacity: c, bytes: bytes, disk: d, diskBytes: diskBytes(d, facts), limit: m, eviction: e}
					gr.maxObject = gr.memoryObject(0)
					out = append(out, gr)
				}
			}
		}
	}
	return out
}

// diskBytes returns the bytes of the disk d. A share is at least one byte, which the
// model may refuse.
func diskBytes(d Amount, facts trace.Facts) int64 {
	bytes := d.bytesOf(facts.ChargedBytes())
	if d.Percent > 0 {
		bytes = max(bytes, 1)
	}
	return bytes
}

// cached returns c: how many objects of mean size a cache of that many bytes
// holds.
func cached(bytes int64, facts trace.Facts) int64 {
	return int64(float64(bytes) * float64(facts.Storable()) / float64(max(facts.ChargedBytes(), 1)))
}

// gatedBytes returns the bytes of the tier behind the admission gate.
func (g *group) gatedBytes() int64 {
	if g.diskBytes > 0 {
		return g.diskBytes
	}
	return g.bytes
}

// largestObject returns the bytes of the largest object that is stored in memory: limit, or
// edgeproxy's default of max_object_bytes if limit is 0; and never more than fits.
func largestObject(capacity, stage, limit int64, e model.Eviction) int64 {
	main := capacity - stage
	quarter := max(main/objectsInCapacity, 1)
	switch {
	case limit == 0:
		return min(defaultObjectBytes, quarter)
	case e.OfTheProxy():
		return min(limit, quarter)
	default:
		return min(limit, main)
	}
}

// memoryObject returns the bytes of the largest object that is stored in memory beside a stage.
func (g *group) memoryObject(stage int64) int64 {
	return largestObject(g.bytes, stage, g.memoryLimit(stage), g.eviction)
}

// memoryLimit returns the limit of objects in memory, 0 for edgeproxy's default. With a disk g.limit is the disk's, and that of the
// memory only if it is less than the default.
func (g *group) memoryLimit(stage int64) int64 {
	if byDefault := largestObject(g.bytes, stage, 0, g.eviction); g.diskBytes > 0 && !g.unlimited() && g.limit > byDefault {
		return 0
	}
	return g.limit
}

// unlimited reports whether every object that fits may be stored. Other simulators work like this, so the evictions that are not
// the proxy's can too.
func (g *group) unlimited() bool {
	return !g.eviction.OfTheProxy() && g.limit >= max(g.bytes, g.diskBytes)
}

// checkLimit refuses a limit that the proxy refuses, beside a stage.
func (g *group) checkLimit(stage int64) error {
	most, of := max((g.bytes-stage)/objectsInCapacity, 1), "a quarter of the capacity without the stage"
	if g.diskBytes > 0 {
		most, of = g.diskBytes/objectsOnDisk, "an eighth of the disk"
	}
	if g.limit <= most || g.unlimited() {
		return nil
	}
	return &GridError{"max-object", strconv.FormatInt(g.limit, 10) + " bytes", "at most " + strconv.FormatInt(most, 10) + " bytes, " + of +
		", as the proxy; or the whole capacity and more under --eviction lru or s3fifo, for no limit"}
}

// diskObject returns the bytes of the largest object on the disk, 0 without a disk.
func (g *group) diskObject() int64 {
	if g.diskBytes == 0 {
		return 0
	}
	largest := g.diskBytes / objectsOnDisk
	if g.limit > 0 {
		return min(g.limit, largest)
	}
	return min(defaultDiskObjectBytes, largest)
}

// sameResults reports whether two groups would have the same results.
func (g *group) sameResults(o *group) bool {
	return g.bytes == o.bytes && g.diskBytes == o.diskBytes && g.diskObject() == o.diskObject() && g.maxObject == o.maxObject && g.eviction == o.eviction
}

// fill gives gr its settings: always, and then each policy's, none of them twice. What knows the future decides itself what it stores,
// whatever the policy, and has one.
func (g Grid) fill(gr *group, facts trace.Facts) error {
	common := model.Setting{
		Exact: g.Exact, CapacityBytes: gr.bytes, MaxObjectBytes: gr.memoryObject(0), Eviction: gr.eviction,
		DiskBytes: gr.diskBytes, DiskObjectBytes: gr.diskObject(),
	}
	if err := gr.checkLimit(0); err != nil {
		return err
	}
	gr.add(point{Setting: common, label: policy.Always.String()})
	if gr.foresees() {
		return gr.check()
	}
	gr.onlyBaseline = !slices.Contains(g.Policies, policy.Always)
	for _, p := range g.Policies {
		for _, r := range g.Parameters.rules(p) {
			s := common
			s.Rule = r
			if err := g.stages(gr, s, facts); err != nil {
				return err
			}
		}
	}
	return gr.check()
}

// check refuses settings that no model takes, before any is made.
func (g *group) check() error {
	for i := range g.points {
		if err := g.points[i].Validate(); err != nil {
			return fmt.Errorf("set up %s: %w", g.points[i].name(), err)
		}
	}
	if g.eviction == model.Ristretto {
		g.repeats = slices.Repeat(g.points[:1], spreadRuns-1)
	}
	return nil
}

// stages adds s with every stage and every window that its policy can have.
func (g Grid) stages(gr *group, s model.Setting, facts trace.Facts) error {
	stages := g.Stages
	if !s.Policy.Chooses() {
		stages = []Amount{{}}
	}
	for _, stage := range stages {
		s.StageBytes = gr.stageBytes(stage)
		if s.StageBytes > gr.bytes/2 {
			return &GridError{"stage", size(s.StageBytes), "at most half of the capacity, here " + size(gr.bytes/2)}
		}
		if err := gr.checkLimit(s.StageBytes); err != nil {
			return err
		}
		s.MaxObjectBytes = gr.memoryObject(s.StageBytes)
		if !s.Policy.Remembers() {
			gr.add(point{Setting: s, label: s.Name() + staged(stage)})
			continue
		}
		g.windows(gr, s, stage, facts)
	}
	return nil
}

// stageBytes returns the bytes of a stage. The proxy's own leaves the largest object its room.
func (g *group) stageBytes(stage Amount) int64 {
	if !stage.Auto {
		return stage.bytesOf(g.bytes)
	}
	largest := min(defaultObjectBytes, fit.LargestBeside(g.bytes))
	if limit := g.memoryLimit(0); limit > 0 && !g.unlimited() {
		largest = limit
	}
	return fit.Stage(g.bytes, largest)
}

// windows adds s with every window.
func (g Grid) windows(gr *group, s model.Setting, stage Amount, facts trace.Facts) {
	for _, n := range g.Generations {
		s.Generations = n
		for _, rate := range g.rates() {
			s.FalsePositiveRate = rate
			for _, r := range g.Rotations {
				p := rotated(s, r.at(gr.cached, facts))
				p.label = g.label(&p, stage)
				gr.add(p)
			}
		}
	}
}

// rotated returns the point of s with the rotation r.
func rotated(s model.Setting, r Rotation) point {
	switch r.Unit {
	case ByTime:
		s.RotateEvery = r.Every
	case ByRequests:
		s.RotateRequests = r.Count
	case ByKeys:
		s.RotateKeys = r.Count
	case Fitted:
		s.Fitted, s.RotateEvery = true, r.Every
	case Never:
		s.Generations, s.FalsePositiveRate = 0, 0
	}
	return point{Setting: s, rotation: r}
}

// label describes p as it was asked for. Numbers of which the grid has only one are left out.
func (g Grid) label(p *point, stage Amount) string {
	out := p.name() + ", " + p.rotation.label()
	if len(g.Generations) > 1 {
		out += ", " + strconv.Itoa(p.Generations) + " generations"
	}
	if len(g.rates()) > 1 {
		out += ", rate " + strconv.FormatFloat(p.FalsePositiveRate, 'g', -1, 64)
	}
	return out + staged(stage)
}

// staged describes the stage as it was asked for.
func staged(stage Amount) string {
	switch {
	case stage.Auto:
		return ", stage auto"
	case stage.Percent > 0:
		return ", stage " + stage.share()
	case stage.Bytes > 0:
		return ", stage " + size(stage.Bytes)
	default:
		return ""
	}
}

// foresees reports whether the eviction knows the future.
func (g *group) foresees() bool { return g.eviction == model.Clairvoyant }

// add appends p unless g has its setting.
func (g *group) add(p point) {
	if !slices.ContainsFunc(g.points, func(o point) bool { return o.Setting == p.Setting }) {
		g.points = append(g.points, p)
	}
}
