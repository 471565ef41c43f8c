package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/cache/disk/device"
)

const (
	readers   = 8
	readBytes = 32 << 10
	records   = 40_000 // records to read from
)

// reads times random cold reads, without and with a writer beside them.
func (o *options) reads(ctx context.Context, dir string, out io.Writer) error {
	s, err := disk.Open(disk.Options{Path: dir, MaxBytes: 8 << 30, Reads: 64, ReadWait: 10 * time.Second, ReadDeadline: 10 * time.Second})
	if err != nil {
		return err
	}
	defer s.Close()
	body := make([]byte, readBytes+1<<20)
	fill(body)
	for n := range uint64(records) {
		if err := o.put(s, n, body[n%4096:][:readBytes]); err != nil {
			return err
		}
	}
	if err := s.Flush(); err != nil {
		return err
	}
	for _, beside := range []int64{0, o.rate, 0, o.rate} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := forget(dir); err != nil {
			return err
		}
		took, written := o.timeReads(s, body, beside)
		fmt.Fprintf(out, "reads beside %3.0f MB/s: %d reads of %d KiB, p50 %v  p99 %v  p99.9 %v  most %v\n", float64(written)/1e6, len(took), readBytes>>10,
			at(took, 0.5), at(took, 0.99), at(took, 0.999), at(took, 1))
	}
	return nil
}

// put stores record n; what the queue does not take waits.
func (o *options) put(s *disk.Store, n uint64, body []byte) error {
	key := binary.LittleEndian.AppendUint64(nil, n)
	for {
		if err := s.Put(hash(n), key, nil, body); err == nil {
			return nil
		}
		if err := s.Flush(); err != nil {
			return err
		}
	}
}

func hash(n uint64) uint64 {
	n = (n + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>29) * 0x94d049bb133111eb
	return n ^ n>>32
}

// timeReads returns how long each read took, in order, and how much was written a second.
func (o *options) timeReads(s *disk.Store, body []byte, rate int64) (took []time.Duration, written int64) {
	end := time.Now().Add(o.reading)
	before := s.Stats().WriteBytes
	var mu sync.Mutex
	var all sync.WaitGroup
	if rate > 0 {
		all.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			due := 0.0
			for n := uint64(1 << 40); time.Now().Before(end); {
				<-tick.C
				for due += float64(rate) / 100; due >= 200<<10; due -= 200 << 10 {
					key := binary.LittleEndian.AppendUint64(nil, n)
					_ = s.Put(hash(n), key, nil, body[n%4096:][:200<<10]) // busy: less is written, and said
					n++
				}
			}
		})
	}
	for w := range uint64(readers) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(w, uint64(time.Now().UnixNano()))) //nolint:gosec // no secret
			var mine []time.Duration
			var h disk.Hit
			for time.Now().Before(end) {
				n := r.Uint64N(records)
				began := time.Now()
				if s.Find(hash(n), binary.LittleEndian.AppendUint64(nil, n), &h) {
					mine = append(mine, time.Since(began))
				}
				h.Close()
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, int64(float64(s.Stats().WriteBytes-before) / o.reading.Seconds())
}

func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(time.Microsecond)
}

// forget drops the page cache of the files in dir.
func forget(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		return err
	}
	d, err := device.OpenDir(dir, nil)
	if err != nil {
		return err
	}
	for _, path := range files {
		f, err := d.Open(filepath.Base(path))
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			return err
		}
		_ = f.Sync()
		f.Forget()
		if err := f.Close(); err != nil {
			return err
		}
	}
	return d.Close()
}
