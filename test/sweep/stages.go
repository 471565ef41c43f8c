package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/figures"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/workload"
)

// stageShares are the stages tried, in percent of the memory.
func stageShares() []float64 { return []float64{0, 1, 2, 3, 5, 7, 10, 15, 20} }

// staged is a memory of some size, under second-hit, with each of the stages.
type staged struct {
	trace       string
	share, disk float64 // the memory, and the disk behind it, in percent of the unique bytes; 0 is none
	outcomes    []stageOutcome
}

// stageOutcome is what came of one stage. Writes are those of the disk, if there is one.
type stageOutcome struct{ requests, hits, requestBytes, hitBytes, writes int64 }

func (o stageOutcome) points() float64 { return 100 * float64(o.hits) / float64(max(o.requests, 1)) }

// stageCaches are the sizes tried: the memory alone, and a memory with a disk.
func stageCaches() []staged {
	return []staged{{share: 1}, {share: 5}, {share: 20}, {share: 1, disk: 10}}
}

// sweepStages plays the traces and the models of a content network with stages of many sizes.
func sweepStages(ctx context.Context, traces string) (rows []staged, err error) {
	for _, w := range workload.Usual() {
		r, err := load(ctx, w, traces)
		if err != nil {
			return nil, err
		}
		for _, c := range stageCaches() {
			c.trace = w.Name
			for _, stage := range stageShares() {
				o, err := r.playStage(c, stage)
				if err = errors.Join(err, ctx.Err()); err != nil {
					return nil, fmt.Errorf("a stage of %g %% in %g %% of %s: %w", stage, c.share, w.Name, err)
				}
				c.outcomes = append(c.outcomes, o)
			}
			rows = append(rows, c)
		}
	}
	return rows, nil
}

// playStage sends the requests through a memory with a stage, as the proxy has it by default, with a disk if c has one.
func (r requests) playStage(c staged, stage float64) (stageOutcome, error) {
	bytes := r.Bytes(c.share)
	run, err := model.New(model.Setting{
		Rule: policy.Rule{Policy: policy.SecondHit}, Generations: 2, Fitted: true, Exact: true, DiskBytes: r.Bytes(c.disk),
		CapacityBytes: bytes, StageBytes: int64(math.Round(float64(bytes) * stage / 100)), Eviction: model.SizeAware,
	}, r.Objects)
	if err != nil {
		return stageOutcome{}, err
	}
	defer run.Close()
	run.Requests(r.Accesses)
	m := run.Result()
	return stageOutcome{requests: m.Requests, hits: m.Hits, requestBytes: m.RequestBytes, hitBytes: m.HitBytes, writes: m.Writes}, nil
}

// chooseStage picks the share of the memory that is least far below the best one tried, in the cache where that is most.
func chooseStage(rows []staged) float64 {
	least, chosen := math.Inf(1), 0.0
	for i, share := range stageShares() {
		if _, worst := shortfall(rows, i); worst < least {
			least, chosen = worst, share
		}
	}
	return chosen
}

// shortfall returns how many points of hits the stage number i is below the best one tried: in the mean of the caches, and
// where that is most.
func shortfall(rows []staged, i int) (mean, worst float64) {
	for _, r := range rows {
		best := slices.MaxFunc(r.outcomes, func(a, b stageOutcome) int { return cmp.Compare(a.points(), b.points()) })
		below := best.points() - r.outcomes[i].points()
		mean += below / float64(len(rows))
		worst = max(worst, below)
	}
	return mean, worst
}

// reportStages shows what became of each stage, and which the rule picks.
func reportStages(w io.Writer, rows []staged) error {
	t := figures.Table{Gap: 2, Text: "Stages, in percent of the memory: hits %, and byte hits % and writes against those without one\n\n"}
	row := func(first, second string, cell func(stage int) string) {
		cells := []string{first, second}
		for i := range stageShares() {
			cells = append(cells, cell(i))
		}
		t.Row(cells...)
	}
	row("requests", "memory", func(i int) string { return fmt.Sprintf("%g %%", stageShares()[i]) })
	for _, r := range rows {
		size := fmt.Sprintf("%g %%", r.share)
		if r.disk > 0 {
			size += fmt.Sprintf(", disk %g %%", r.disk)
		}
		row(r.trace, size, func(i int) string {
			o, without := r.outcomes[i], r.outcomes[0]
			return fmt.Sprintf("%.2f, %+.2f, ×%.2f", o.points(), 100*float64(o.hitBytes-without.hitBytes)/float64(max(o.requestBytes, 1)), float64(o.writes)/float64(max(without.writes, 1)))
		})
	}
	memory, disk := split(rows)
	for _, s := range []struct {
		name string
		rows []staged
	}{{"alone", memory}, {"with a disk", disk}} {
		row("below the best, mean / worst", s.name, func(i int) string {
			mean, worst := shortfall(s.rows, i)
			return fmt.Sprintf("%.2f / %.2f", mean, worst)
		})
	}
	err := t.Write(w)
	if err == nil {
		_, err = fmt.Fprintf(w, "\nThe least far below the best in any memory: %g %%\n", chooseStage(memory))
	}
	return err
}

// split returns the caches without a disk, and those with one.
func split(rows []staged) (memory, disk []staged) {
	for _, r := range rows {
		if r.disk > 0 {
			disk = append(disk, r)
		} else {
			memory = append(memory, r)
		}
	}
	return memory, disk
}
