package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
	"edgeproxy/internal/lab/process"
)

// fillRecord is how long each record of fill is.
const fillRecord = 4096

// fill opens a directory of many objects with a cold page cache.
func (o *options) fill(ctx context.Context, dir string, out io.Writer) error {
	most := int64(o.objects)*(fillRecord+layout.EntryBytes) + 1<<30
	head := layout.Header{SegmentBytes: layout.MaxSegment, Seed: 1, Secret: 0x5ec2e7}
	if err := sparse(ctx, dir, head, o.objects); err != nil {
		return err
	}
	if err := forget(dir); err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began, used := time.Now(), cpu()
	s, err := disk.Open(disk.Options{Path: dir, MaxBytes: 2 * most, MeanObjectBytes: 2 * most / int64(o.objects)})
	if err != nil {
		return err
	}
	opened := time.Since(began)
	for s.Stats().Unfilled > 0 && ctx.Err() == nil {
		runtime.Gosched()
		<-time.After(time.Millisecond)
	}
	filled, used := time.Since(began), cpu()-used
	st := s.Stats()
	runtime.GC()
	runtime.ReadMemStats(&after)
	fmt.Fprintf(out, "fill: %d objects of %d segments: open after %v, all of them after %v (%v of processor time); index %.2f bytes an object (load %.2f), heap %.2f bytes an object\n",
		st.Objects, st.Segments, opened.Round(time.Millisecond), filled.Round(time.Millisecond), used.Round(time.Millisecond), float64(st.IndexBytes)/float64(st.Objects), st.IndexLoad,
		float64(after.HeapAlloc-before.HeapAlloc)/float64(st.Objects))
	const lookups = 2_000_000
	began, used = time.Now(), cpu()
	var h disk.Hit
	for n := range uint64(lookups) {
		s.Find(hash(n+1<<50), nil, &h) // none of them is there: the index alone is asked
	}
	fmt.Fprintf(out, "look-up of what is not there: %d ns, %d ns of processor time\n", time.Since(began).Nanoseconds()/lookups, (cpu()-used).Nanoseconds()/lookups)
	s.Close()
	return nil
}

// cpu returns the processor time that this process has taken.
func cpu() time.Duration {
	user, system := process.TimeOfSelf()
	return user + system
}

// sparse makes a directory of sealed segments whose records are holes: only their footers are there.
func sparse(ctx context.Context, dir string, head layout.Header, objects int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	err := statefile.Write(filepath.Join(dir, "header"), func(w io.Writer) error {
		_, err := w.Write(head.Append(nil))
		return err
	})
	n := uint64(0)
	for number := uint64(0); err == nil && n < uint64(objects) && ctx.Err() == nil; number++ { //nolint:gosec // above 0
		var entries []byte
		at := int64(layout.Page)
		for ; n < uint64(objects) && at+fillRecord+layout.FooterBytes(int64(len(entries)/layout.EntryBytes)+1) <= head.SegmentBytes; n++ { //nolint:gosec // above 0
			entries = layout.AppendEntry(entries, layout.Entry{Hash: hash(n), Offset: at, Bytes: fillRecord})
			at += fillRecord
		}
		foot := head.AppendFooter(nil, entries, layout.Trailer{Number: number, Kind: layout.Small, EntriesAt: at, Sum: layout.Sum(entries)})
		var f *os.File
		if f, err = os.Create(filepath.Join(dir, fmt.Sprintf("%06d.seg", number))); err == nil {
			_, err = f.WriteAt(foot, at)
			err = errors.Join(err, f.Close())
		}
	}
	return errors.Join(err, ctx.Err())
}
