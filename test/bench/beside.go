package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/lab/figures"
)

// What is read from a device while other responses are written to it.
const (
	besideFolder = "beside"
	besideName   = "hits of 16 KiB from a device beside 100 MB/s of writes"
	besideSize   = 16 << 10
	besidePages  = 1600
	besideHits   = 400 // a second
	besideWrites = 100 // a second, of 1 MiB
	besideTurns  = 7
	besideTurn   = time.Second / 7 // for each round
)

// reader is a cache on a disk that is asked for hits.
type reader struct {
	name, address string
	folder        string // where its files are
	beside        [2]struct {
		took []time.Duration
		hits int // among these
	}
}

// measureBeside asks each cache for hits that the page cache does not have, alone and beside misses that are stored, by one timetable, and prints how long
// they took.
func (f *field) measureBeside(ctx context.Context, stdout io.Writer) error {
	pages := make([]page, besidePages)
	for i := range pages {
		pages[i] = freshPage(besideSize)
	}
	p, err := f.startFilled(ctx, f.onDisk(besideFolder, noMemory), func(address string) error { return store(address, pages) })
	if err != nil {
		return err
	}
	all := []*reader{{name: edgeName, address: p.Address, folder: filepath.Join(f.dir, besideFolder)}}
	if err := f.pin(append(f.servers(), p.PID())...); err != nil {
		return err
	}
	if f.nginx != nil {
		n := &reader{name: nginxName, address: f.nginx.says, folder: filepath.Join(f.dir, "nginx", "first")}
		if err := store(n.address, pages); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		all = append(all, n)
	}
	for turn := range besideTurns {
		for i := range all {
			for beside := range 2 {
				if err := f.readBeside(ctx, all[(i+turn)%len(all)], pages, beside); err != nil {
					return err
				}
			}
		}
	}
	return printBeside(stdout, all)
}

// besideHost is asked for at every address, so that what one process has stored the next one finds.
const besideHost = "www.example.com"

// store asks for each page until it surely is stored.
func store(address string, pages []page) (err error) {
	c, err := dial(address, 1, requestsFor(pages, besideHost), wanted{size: besideSize})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for d := time.Second; ; d *= 2 { // each time it begins with the first
		n, err := c.ask(d)
		if err != nil {
			return fmt.Errorf("fill the cache: %w", err)
		}
		if n >= warmRequests*int64(len(pages)) {
			return nil
		}
	}
}

// readBeside asks r for hits, each page at most once, alone (0) or beside stored misses (1). What is no hit counts as well: a disk that is too slow is passed over
// for the origin.
func (f *field) readBeside(ctx context.Context, r *reader, pages []page, beside int) error {
	unix.Sync() // what another server has left in the page cache would be written in this one's turn
	if err := forget(r.folder); err != nil {
		return err
	}
	var requests [][]byte
	var wants []wanted
	rate, turn := besideHits, time.Duration(f.o.rounds)*besideTurn
	for i, n := range rand.Perm(len(pages)) {
		requests, wants = append(requests, pages[n].request(besideHost)), append(wants, wanted{size: besideSize})
		if beside == 1 && i%(besideHits/besideWrites) == 0 {
			requests, wants = append(requests, freshPage(1<<20).request(besideHost)), append(wants, wanted{size: 1 << 20, untimed: true})
		}
	}
	if beside == 1 {
		rate += besideWrites
	}
	l, err := newOpenLoop(r.address, lateConnections, requests, wanted{})
	if err != nil {
		return err
	}
	l.wants, l.realTime = wants, f.o.realTime
	took, err := l.measure(ctx, min(turn, besidePages/besideHits*time.Second), float64(rate))
	if err = errors.Join(err, l.Close()); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	sum := &r.beside[beside]
	sum.took = append(sum.took, took...)
	sum.hits += l.found
	return nil
}

// forget has what is in the files of a folder on the device, and leaves nothing of it in the page cache.
func forget(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read: nothing to lose
		fd := int(f.Fd())                //nolint:gosec // a descriptor
		return errors.Join(unix.Fdatasync(fd), unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
	})
}

func printBeside(w io.Writer, all []*reader) error {
	t := figures.Table{Text: fmt.Sprintf("\nHow long %s took: %d a second that the page cache does not have, each from when its request was due,\nalone, and beside %d stored misses of 1 MiB a second. What nginx writes lies in the page cache for the few seconds of its turn, and goes to\nthe device behind it; edgeproxy writes to the device at once.\n\n",
		besideName, besideHits, besideWrites)}
	t.Row("server", "beside writes", "requests", "hits", "p50", "p99", "p99.9", "longest")
	for _, r := range all {
		for i, beside := range []string{"no", "yes"} {
			took := slices.Sorted(slices.Values(r.beside[i].took))
			at := func(q float64) time.Duration { return figures.Quantile(took, q).Round(time.Microsecond) }
			t.Rowf("%s\t%s\t%d\t%d\t%v\t%v\t%v\t%v", r.name, beside, len(took), r.beside[i].hits, at(0.5), at(0.99), at(0.999), at(1))
		}
	}
	return t.Write(w)
}
