package main

import (
	"context"
	"fmt"
	"io"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/figures"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/workload"
)

// memoryShare is the memory before a disk, in percent of the unique bytes.
const memoryShare = 1

// diskShares are the sizes of the disks, in percent of the unique bytes.
func diskShares() []float64 { return []float64{5, 10, 20} }

// evictDisk plays the evictions of a disk and prints them.
func evictDisk(ctx context.Context, traces string, stage float64, stdout io.Writer) error {
	tables := make([]diskTable, len(diskShares()))
	for _, w := range workload.Usual() {
		r, err := load(ctx, w, traces)
		if err != nil {
			return err
		}
		for i, share := range diskShares() {
			results, err := r.disks(ctx, share, stage)
			if err != nil {
				return fmt.Errorf("%s: %w", w.Name, err)
			}
			tables[i].share, tables[i].stage = share, stage
			tables[i].columns = append(tables[i].columns, diskColumn{w.Name, results})
		}
	}
	for i := range tables {
		f := tables[i].figures()
		if err := f.Write(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	return nil
}

// disks plays r with all evictions of a disk of a share of the unique bytes.
func (r requests) disks(ctx context.Context, share, stage float64) (out []model.Result, err error) {
	memory, disk := r.Bytes(memoryShare), r.Bytes(share)
	for _, e := range model.DiskEvictions() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := setting(model.SizeAware, memory, int64(float64(memory)*stage/100))
		s.DiskBytes, s.DiskObjectBytes, s.DiskEviction = disk, disk/8, e
		run, err := model.New(s, r.Objects)
		if err != nil {
			return nil, err
		}
		run.Requests(r.Accesses)
		out = append(out, run.Result())
		run.Close()
	}
	return out, nil
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

// figures returns the table: a row for each eviction.
func (t *diskTable) figures() figures.Table {
	f := figures.Table{Gap: 2, Text: fmt.Sprintf("Memory of %d %% of the unique bytes, %g %% of it stage, disk of %g %%, %s: hits %% / byte hits %%, MB to the device, write amplification\n\n",
		memoryShare, t.stage, t.share, policy.SecondHit)}
	head := []string{"eviction"}
	for _, c := range t.columns {
		head = append(head, c.workload)
	}
	f.Row(head...)
	for i, name := range model.DiskEvictions() {
		row := []string{name.String()}
		for _, c := range t.columns {
			m := &c.results[i]
			row = append(row, fmt.Sprintf("%.1f / %.1f, %.0f, %.2f", 100*m.HitRatio, 100*m.ByteHitRatio, float64(m.DiskWriteBytes)/1e6, m.WriteAmplification))
		}
		f.Row(row...)
	}
	return f
}
