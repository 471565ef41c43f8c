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
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
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
func (f *field) measureBeside(ctx context.Context, stdout io.Writer) (err error) {
	pages := make([]page, besidePages)
	for i := range pages {
		pages[i] = freshPage(besideSize)
	}
	p, err := f.startStored(pages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	all := []*reader{{name: "edgeproxy", address: p.address, folder: filepath.Join(f.dir, besideFolder)}}
	unpin, err := pinServers(append(f.servers(), p.pid()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	if f.nginx != nil {
		n := &reader{name: "nginx", address: f.nginx.says, folder: filepath.Join(f.dir, "nginx", "first")}
		if err := store(n.address, pages); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		all = append(all, n)
	}
	for turn := range besideTurns {
		for i := range all {
			for beside := range 2 {
				if r := all[(i+turn)%len(all)]; err == nil {
					err = f.readBeside(ctx, r, pages, beside)
				}
			}
		}
	}
	if err != nil {
		return err
	}
	return printBeside(stdout, all)
}

// startStored starts an edgeproxy that has pages on its disk: what has just been stored may wait in memory, so another process has stored them.
func (f *field) startStored(pages []page) (*process, error) {
	edge := f.diskEdge(besideFolder, noMemory)
	p, err := edge.start()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(store(p.address, pages), p.Close()); err != nil {
		return nil, err
	}
	return edge.start()
}

// besideHost is asked for at every address, so that what one process has stored the next one finds.
const besideHost = "www.example.com"

// store asks for each page until it surely is stored.
func store(address string, pages []page) (err error) {
	var requests [][]byte
	for _, p := range pages {
		requests = append(requests, p.request(besideHost))
	}
	c, err := dial(address, 1, requests, wanted{size: besideSize})
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
		defer func() { _ = f.Close() }() // of reading: nothing to lose
		fd := int(f.Fd())                //nolint:gosec // a descriptor
		return errors.Join(unix.Fdatasync(fd), unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
	})
}

func printBeside(w io.Writer, all []*reader) error {
	if _, err := fmt.Fprintf(w, "\nHow long %s took: %d a second that the page cache does not have, each from when its request was due,\nalone, and beside %d stored misses of 1 MiB a second. What nginx writes lies in the page cache for the few seconds of its turn, and goes to\nthe device behind it; edgeproxy writes to the device at once.\n\n",
		besideName, besideHits, besideWrites); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "server\tbeside writes\trequests\thits\tp50\tp99\tp99.9\tlongest")
	for _, r := range all {
		for i, beside := range []string{"no", "yes"} {
			took := r.beside[i].took
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%v\t%v\t%v\t%v\n", r.name, beside, len(took), r.beside[i].hits, at(took, 0.5), at(took, 0.99), at(took, 0.999), at(took, 1))
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// at is percentile, as it is printed.
func at(took []time.Duration, share float64) time.Duration {
	return percentile(slices.Clone(took), share).Round(time.Microsecond)
}
