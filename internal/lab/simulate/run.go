package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
)

// waveBytes bounds the memory of a run. Models of at most so many bytes, or a single
// larger one, are replayed together: a wave. The others follow in further waves.
const waveBytes = 2 << 30

// Options are the options of Run.
type Options struct {
	// Workers is how many settings are replayed at the same time; 1 or more.
	Workers int

	// Clock measures how long a setting takes. Several goroutines may call it at the
	// same time.
	Clock func() time.Time

	// Goal is what the recommendation optimizes.
	Goal Goal

	// Progress, if not nil, is called with the number of requests replayed, by the
	// goroutine of Run.
	Progress func(done, total int64)
}

// Run replays the trace with every setting of the grid. If the grid cannot work with
// this trace, the error is a *GridError or wraps a *bloom.OptionError. If ctx ends first,
// it is the context's. No goroutine is left running.
func Run(ctx context.Context, t *trace.Trace, g Grid, o Options) (*Report, error) {
	groups, err := g.groups(t.Facts(), t.HasTimes())
	if err != nil {
		return nil, err
	}
	r := &run{trace: t, groups: groups, fleet: g.Fleet, options: o, chunk: defaultChunk, waveBytes: waveBytes}
	if err := r.countPeriods(ctx); err != nil {
		return nil, err
	}
	if err := r.foresee(ctx); err != nil {
		return nil, err
	}
	if err := r.replay(ctx); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// run is the state of Run.
type run struct {
	trace     *trace.Trace
	groups    []*group
	fleet     model.Fleet
	options   Options
	chunk     int
	waveBytes int64
	span      span
	periods   []*census
	future    *model.Future // nil: no setting knows it
}

// countPeriods counts the keys of each period, for rotations that are not by keys. It gives
// filters that are rotated by time the size that their busiest period needs.
func (r *run) countPeriods(ctx context.Context) error {
	for _, p := range r.points() {
		if r.counts(p.rotation.Unit) && r.period(p.rotation) == nil {
			r.periods = append(r.periods, &census{rule: p.rotation})
		}
	}
	at := int(max(1, r.waveBytes/(censusBytes*max(1, int64(len(r.trace.Objects())))))) // at a time
	for part := range slices.Chunk(r.periods, at) {
		runners := make([]runner, len(part))
		for i, c := range part {
			c.last = make([]uint32, len(r.trace.Objects()))
			runners[i] = c
		}
		if err := newRunnerPool(runners, r.options.Workers, r.chunk, r.options.Clock).run(ctx, r.trace, nil); err != nil {
			return fmt.Errorf("count the keys of each period: %w", err)
		}
		for _, c := range part {
			c.last = nil
		}
	}
	for _, p := range r.points() {
		if p.rotation.Unit == ByTime && !p.Exact {
			p.RotateKeys = r.keys(p)
		}
	}
	return nil
}

// counts reports whether the keys of the periods of a rotation are counted. A number of requests to one edge of a fleet is no period of
// the log.
func (r *run) counts(u Unit) bool { return u == ByTime || u == ByRequests && r.fleet.Nodes == 0 }

// foresee reads all requests, where a setting knows the future. That is in memory, and so it is for a bounded number of requests.
func (r *run) foresee(ctx context.Context) error {
	if !slices.ContainsFunc(r.groups, (*group).foresees) {
		return nil
	}
	requests := r.trace.Facts().Requests
	if requests > model.MostForeseen {
		return &GridError{"eviction", string(model.Clairvoyant), fmt.Sprintf("a log of at most %s requests, for it keeps 4 bytes of each in memory; this one has %s",
			humanize.Comma(model.MostForeseen), humanize.Comma(requests))}
	}
	r.future = model.NewFuture(len(r.trace.Objects()), requests)
	err := r.trace.Each(ctx, func(batch []trace.Access) error {
		r.future.Add(batch)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the requests beforehand: %w", err)
	}
	return nil
}

// keys returns how many keys a generation of edgeproxy's filter has to hold for p.
func (r *run) keys(p *point) int64 {
	switch p.rotation.Unit {
	case ByKeys:
		return min(p.rotation.Count, withHeadroom(r.trace.Facts().Objects))
	case ByTime:
		return r.period(p.rotation).peakWithHeadroom()
	case ByRequests:
		if c := r.period(p.rotation); c != nil {
			return min(max(c.mean(), minPeriod), maxPeriod)
		}
		return min(p.rotation.Count, withHeadroom(r.trace.Facts().Objects))
	default:
		return min(max(r.trace.Facts().Objects, minPeriod), maxPeriod)
	}
}

// period returns the census of the rotation, nil if there is none.
func (r *run) period(rule Rotation) *census {
	i := slices.IndexFunc(r.periods, func(c *census) bool { return c.rule == rule })
	if i < 0 {
		return nil
	}
	return r.periods[i]
}

// waves divides the settings into waves, in order.
func (r *run) waves(points []*point) [][]*point {
	objects, total := len(r.trace.Objects()), r.trace.Facts().UniqueBytes
	var out [][]*point
	left := int64(0)
	for _, p := range points {
		takes := r.fleet.Memory(p.Setting, objects, total)
		if len(out) == 0 || takes > left {
			out, left = append(out, nil), r.waveBytes
		}
		out[len(out)-1] = append(out[len(out)-1], p)
		left -= takes
	}
	return out
}

// points returns the settings of all groups in order, each group's repeats behind
// them.
func (r *run) points() []*point {
	var out []*point
	for _, g := range r.groups {
		for i := range g.points {
			out = append(out, &g.points[i])
		}
		for i := range g.repeats {
			out = append(out, &g.repeats[i])
		}
	}
	return out
}

// replay replays every setting, in as many waves as the memory needs.
func (r *run) replay(ctx context.Context) error {
	points := r.points()
	// The slowest first: all wait for a worker that begins with it last.
	slices.SortStableFunc(points, func(a, b *point) int { return weight(b.Eviction) - weight(a.Eviction) })
	waves := r.waves(points)
	var before int64
	for _, part := range waves {
		progress := func(done int64) {
			if r.options.Progress != nil {
				r.options.Progress(before+done, int64(len(waves))*r.trace.Facts().Requests)
			}
		}
		if err := r.model(ctx, part, progress); err != nil {
			return err
		}
		before += r.trace.Facts().Requests
	}
	return nil
}

// weight orders evictions by how long they take.
func weight(e model.Eviction) int {
	if e.OfTheProxy() || e == model.Clairvoyant {
		return 1
	}
	return 0
}

// player is a model that requests are replayed with.
type player interface {
	Requests(requests []trace.Access)
	Result() model.Result
	Close()
}

// newModel returns a model of s: one cache, or a fleet of them.
func (r *run) newModel(s model.Setting) (player, error) {
	in := model.Input{Objects: r.trace.Objects(), Future: r.future}
	if r.fleet.Nodes > 0 {
		return model.NewFleet(r.fleet, s, in)
	}
	return model.NewOf(s, in)
}

// model replays some of the settings and keeps their results.
func (r *run) model(ctx context.Context, points []*point, progress func(done int64)) error {
	models := make([]player, 0, len(points))
	defer func() {
		for _, m := range models {
			m.Close()
		}
	}()
	runners := make([]runner, 0, len(points)+1)
	for _, p := range points {
		m, err := r.newModel(p.Setting)
		if err != nil {
			return fmt.Errorf("set up %s: %w", p.name(), err)
		}
		models = append(models, m)
		runners = append(runners, modelRunner{m})
	}
	c := newRunnerPool(append(runners, &r.span), r.options.Workers, r.chunk, r.options.Clock)
	if err := c.run(ctx, r.trace, progress); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	for i, p := range points {
		p.result, p.busy = models[i].Result(), c.busy[i]
	}
	return nil
}
