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
	"edgeproxy/internal/lab/figures"
)

const (
	readers   = 8
	readBytes = 32 << 10
)

// keeper keeps records, so that they can be read.
type keeper interface {
	// put stores record n, now or soon; an error says that it does not.
	put(n uint64, body []byte) error
	// read reads all of record n, and reports whether it was there.
	read(n uint64) bool
	// written returns how many bytes were given to the system.
	written() int64
	// forget drops the page cache of what is read, the first records.
	forget(records uint64) error
	close()
}

// reads times random cold reads, without and with a writer beside them: of the store, and of a file for each record.
func (o *options) reads(ctx context.Context, dir string, out io.Writer) error {
	s, err := newKept(dir)
	if err != nil {
		return err
	}
	defer s.close()
	f, err := newFiles(dir + "-files")
	if err != nil {
		return err
	}
	body := make([]byte, readBytes+1<<20)
	fill(body)
	rivals := []struct {
		name string
		keeper
	}{{"store", s}, {"files", f}}
	for _, r := range rivals {
		for n := range o.records {
			if err := r.put(n, body[n%4096:][:readBytes]); err != nil {
				return err
			}
		}
	}
	for range 2 {
		for _, r := range rivals {
			for _, beside := range []int64{0, o.rate} {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := r.forget(o.records); err != nil {
					return err
				}
				took, written := o.timeReads(r, body, beside)
				at := func(q float64) time.Duration { return figures.Quantile(took, q).Round(time.Microsecond) }
				fmt.Fprintf(out, "%s: reads beside %3.0f MB/s: %d reads of %d KiB, p50 %v  p99 %v  p99.9 %v  most %v\n", r.name, float64(written)/1e6, len(took), readBytes>>10,
					at(0.5), at(0.99), at(0.999), at(1))
			}
		}
	}
	return nil
}

// kept is the store.
type kept struct {
	store *disk.Store
	dir   string
	hits  chan *disk.Hit
}

func newKept(dir string) (*kept, error) {
	s, err := disk.Open(disk.Options{Path: dir, MaxBytes: 8 << 30, Reads: 64, ReadWait: 10 * time.Second, ReadDeadline: 10 * time.Second})
	return &kept{store: s, dir: dir, hits: make(chan *disk.Hit, 2*readers)}, err
}

func (k *kept) put(n uint64, body []byte) error {
	key := binary.LittleEndian.AppendUint64(nil, n)
	for {
		if err := k.store.Put(hash(n), key, nil, body); err == nil {
			return nil
		}
		if err := k.store.Flush(); err != nil { // what the queue does not take waits
			return err
		}
	}
}

func (k *kept) read(n uint64) bool {
	var h *disk.Hit
	select {
	case h = <-k.hits:
	default:
		h = &disk.Hit{}
	}
	found := k.store.Find(hash(n), binary.LittleEndian.AppendUint64(nil, n), h)
	h.Close()
	k.hits <- h
	return found
}

func (k *kept) written() int64 { return k.store.Stats().WriteBytes }

func (k *kept) forget(uint64) error {
	if err := k.store.Flush(); err != nil {
		return err
	}
	return forget(k.dir)
}

func (k *kept) close() { k.store.Close() }

func hash(n uint64) uint64 {
	n = (n + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>29) * 0x94d049bb133111eb
	return n ^ n>>32
}

// timeReads reads each record once, so that none lies in memory, and evenly over the time. It returns how long each read took, in order, and how much was
// written a second.
func (o *options) timeReads(k keeper, body []byte, rate int64) (took []time.Duration, written int64) {
	end := time.Now().Add(o.reading)
	before := k.written()
	var mu sync.Mutex
	var all sync.WaitGroup
	if rate > 0 {
		all.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			due := 0.0
			for n := uint64(time.Now().UnixNano()); time.Now().Before(end); { //nolint:gosec // no record of before
				<-tick.C
				for due += float64(rate) / 100; due >= 200<<10 && time.Now().Before(end); due -= 200 << 10 {
					_ = k.put(n, body[n%4096:][:200<<10]) // less is written then, and said
					n++
				}
			}
		})
	}
	order := rand.New(rand.NewPCG(1, o.records)).Perm(int(o.records)) //nolint:gosec // no secret, and not so many
	each := max(len(order)/readers, 1)
	for numbers := range slices.Chunk(order, each) {
		all.Go(func() {
			tick := time.NewTicker(o.reading / time.Duration(each))
			defer tick.Stop()
			var mine []time.Duration
			for _, n := range numbers {
				<-tick.C
				began := time.Now()
				if k.read(uint64(n)) { //nolint:gosec // not negative
					mine = append(mine, time.Since(began))
				}
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, int64(float64(k.written()-before) / o.reading.Seconds())
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
