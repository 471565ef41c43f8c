package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/model"
)

// memoryShare is the memory before a disk, in percent of the unique bytes.
const memoryShare = 1

// diskShares are the sizes of the disks, in percent of the unique bytes.
func diskShares() []float64 { return []float64{5, 10, 20} }

// diskWorkloads are the traces and models, without what is made up here.
func diskWorkloads() (out []workload) {
	for _, w := range workloads() {
		if w.make == nil {
			out = append(out, w)
		}
	}
	return out
}

// evictDisk plays the evictions of a disk and prints them.
func evictDisk(ctx context.Context, traces string, stage float64, stdout io.Writer) error {
	tables := make([]diskTable, len(diskShares()))
	for _, w := range diskWorkloads() {
		r, err := w.load(ctx, traces)
		if err != nil {
			return err
		}
		for i, share := range diskShares() {
			results, err := r.disks(ctx, share, stage)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			tables[i].share, tables[i].stage = share, stage
			tables[i].columns = append(tables[i].columns, diskColumn{w.name, results})
		}
	}
	for i := range tables {
		fmt.Fprintln(stdout, tables[i].text())
	}
	return nil
}

// disks plays r with all evictions of a disk of a share of the unique bytes.
func (r *requests) disks(ctx context.Context, share, stage float64) (out []model.Result, err error) {
	memory, disk := r.bytes(memoryShare), r.bytes(share)
	for _, e := range model.DiskEvictions() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := setting(model.SizeAware, memory, int64(float64(memory)*stage/100))
		s.DiskBytes, s.DiskObjectBytes, s.DiskEviction = disk, disk/8, e
		run, err := model.New(s, r.objects)
		if err != nil {
			return nil, err
		}
		run.Requests(r.accesses)
		out = append(out, run.Result())
		run.Close()
	}
	return out, nil
}

// bytes returns a share of the unique bytes, in percent.
func (r *requests) bytes(share float64) int64 {
	return int64(math.Round(float64(r.unique) * share / 100))
}

// diskTable is what the evictions of a disk of a share of the unique bytes made of all workloads.
type diskTable struct {
	share, stage float64
	columns      []diskColumn
}

// diskColumn is what they made of one, in the order of model.DiskEvictions.
type diskColumn struct {
	workload string
	results  []model.Result
}

// text returns the table: a row for each eviction.
func (t *diskTable) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Memory of %d %% of the unique bytes, %g %% of it stage, disk of %g %%, %s: hits %% / byte hits %%, MB to the device, write amplification\n\n",
		memoryShare, t.stage, t.share, policy.SecondHit)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "eviction")
	for _, c := range t.columns {
		fmt.Fprintf(w, "\t%s", c.workload)
	}
	fmt.Fprintln(w)
	for i, name := range model.DiskEvictions() {
		fmt.Fprint(w, name)
		for _, c := range t.columns {
			m := &c.results[i]
			fmt.Fprintf(w, "\t%.1f / %.1f, %.0f, %.2f", 100*m.HitRatio, 100*m.ByteHitRatio, float64(m.DiskWriteBytes)/1e6, m.WriteAmplification)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	return b.String()
}
