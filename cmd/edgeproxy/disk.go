package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"edgeproxy/config"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/purge"
)

const (
	// purgesDir is a directory in that of the disk tier: it has what was purged, beside what was stored.
	purgesDir = "purges"
	// indexShare is what the index of a directory takes of max_bytes at most: one part of so many, in memory.
	indexShare = 400
	// diskQueueBytes bounds what waits in memory to be written to the disk.
	diskQueueBytes = 32 << 20
)

// diskOptions are those of the disk tier of c, for each directory; none where there is no such tier.
func diskOptions(c *config.Config, log *slog.Logger) (all []disk.Options) {
	d := &c.Cache.Disk
	for _, path := range d.Paths {
		all = append(all, disk.Options{
			Path: path, Home: hasPurges(path) == nil, MaxBytes: int64(d.MaxBytes), MaxObjectBytes: int64(d.MaxObjectBytes), MinFree: minFree(d, path),
			WriteRate: int64(d.WriteRate), QueueBytes: diskQueueBytes, Log: log, Fold: cache.FoldPatch,
		})
	}
	return all
}

// hasPurges returns nil where the directory at path has what was purged, else why it has not.
func hasPurges(path string) error {
	_, err := os.Stat(filepath.Join(path, purgesDir))
	return err
}

// directoryWithPurges returns which of the directories has what was purged, or is to have it: one that keeps what is stored.
func directoryWithPurges(all []disk.Options) string {
	dropped := disk.Dropped(all...)
	home := ""
	for _, o := range all {
		switch err := hasPurges(o.Path); {
		case slices.Contains(dropped, o.Path):
		case err == nil:
			return o.Path
		case home == "" || !errors.Is(err, fs.ErrNotExist) && errors.Is(hasPurges(home), fs.ErrNotExist): // it may have them
			home = o.Path
		}
	}
	return home
}

// minFree returns how many bytes of the file system stay free. Where that cannot be asked for its size, a share is one of max_bytes.
func minFree(d *config.Disk, path string) int64 {
	if d.MinFree.Share == 0 {
		return int64(d.MinFree.Bytes)
	}
	_, total, err := disk.Room(path)
	if err != nil {
		total = int64(d.MaxBytes)
	}
	return int64(d.MinFree.Share * float64(total))
}

// diskFaults says what is wrong with the directories of the disk tier. One that is in use by the running proxy is not.
func diskFaults(c, running *config.Config) config.Errors {
	faults, _ := diskProblems(c, running)
	return faults
}

// diskProblems says what serve refuses, and what it goes on without. Directories that are in force (running, nil at a
// start) are not made anew.
func diskProblems(c, running *config.Config) (faults config.Errors, out []config.Warning) {
	const path, maxBytes = "cache.disk.path", "cache.disk.max_bytes"
	all := diskOptions(c, nil)
	dropped := disk.Dropped(all...)
	for i, o := range all {
		err := disk.Usable(o)
		if err == nil && (running == nil || !slices.Contains(running.Cache.Disk.Paths, o.Path)) {
			err = makeableDisk(o, all)
		}
		at := c.Given(fmt.Sprintf("%s[%d]", path, i), path)
		switch {
		case err == nil && slices.Contains(dropped, o.Path):
			out = append(out, c.Warn(at, "what is stored there is dropped at the next start: it was not used together with the others, or not the last time"))
		case err == nil:
		case isTransient(err):
			out = append(out, c.Warn(at, "the disk tier cannot be used, and the proxy goes on without it until it is started anew: "+err.Error()))
		case errors.Is(err, disk.ErrTooSmall):
			faults = append(faults, c.Fault(maxBytes, "want more, or an empty directory: "+err.Error()))
		default:
			faults = append(faults, c.Fault(at, "want a directory of its own: "+err.Error()))
		}
	}
	return faults, out
}

// makeableDisk says why the directory of o, one of all, cannot be made, or its place for purges.
func makeableDisk(o disk.Options, all []disk.Options) error {
	if err := checkCreatable(o.Path); err != nil || o.Path != directoryWithPurges(all) {
		return err
	}
	return checkCreatable(filepath.Join(o.Path, purgesDir))
}

// isTransient reports whether err may pass without a change of the configuration: the device fails, is full, or can only be read.
func isTransient(err error) bool {
	for _, e := range []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, disk.ErrReadOnly} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// openDisk opens the disk tier and the purges that go with it, if the configuration has one. Keys gives the seed that keys were
// hashed by so far, 0 for none. A directory of somebody else, of a newer program or in use elsewhere is an error; with one that
// merely fails the proxy goes on as if it had no disk.
func (e *edge) openDisk(keys uint64) error {
	e.purges = purge.New(purge.Options{})
	paths := e.config.Cache.Disk.Paths
	if len(paths) == 0 {
		return nil
	}
	var purges *purge.Table
	all := diskOptions(e.config, e.log)
	home := directoryWithPurges(all)
	group, err := disk.OpenGroup(all...)
	if err == nil {
		if purges, err = openPurges(home, keys, group.Stats().Segments > 0, e.log); err != nil {
			group.Close()
		}
	}
	switch {
	case err != nil && isTransient(err):
		e.diskFailure = err
		e.log.Error("the disk tier cannot be used, and the proxy goes on without it until it is started anew", "path", paths, "error", err)
	case err != nil:
		return fmt.Errorf("cache.disk: %w", err)
	default:
		e.disk, e.purges = group, purges
		e.removeStrayPurges(home)
		e.registry.MustRegister(newDiskMetrics(group))
		st := group.Stats()
		e.log.Info("the disk tier is open", "path", paths, "bytes", st.Bytes, "max_bytes", st.MaxBytes, "segments", st.Segments, "punches_holes", st.Punches)
	}
	return nil
}

// openPurges opens what was purged; stored says that something is stored.
func openPurges(path string, keys uint64, stored bool, log *slog.Logger) (*purge.Table, error) {
	dir := filepath.Join(path, purgesDir)
	if _, err := os.Stat(dir); stored && errors.Is(err, fs.ErrNotExist) {
		log.Warn("the disk tier has responses, and not what was purged of them, which lay in a directory that is in the list no more: none of them is used", "path", path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return purge.Open(purge.Place{Dir: dir, KeySeed: keys, Log: log}, purge.Options{})
}

// removeStrayPurges removes what directories besides home have of purges: from a time when they were used alone. It would be taken for that of all
// when home leaves the list.
func (e *edge) removeStrayPurges(home string) {
	for i, path := range e.config.Cache.Disk.Paths {
		if path == home || e.disk.Stores()[i].Err() != nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(path, purgesDir)); err != nil {
			e.log.Warn("purges", "path", path, "error", err)
		}
	}
}

// closeDisk writes what waits and lets go of the directory. What is being sent from it goes on.
func (e *edge) closeDisk() {
	if e.disk != nil {
		e.disk.Close()
	}
	if e.purges == nil {
		return
	}
	if err := e.purges.Close(); err != nil {
		e.log.Warn("purges", "error", err)
	}
}

// diskTrouble says why the disk tier is not in use though there should be one; "" is no trouble. It names no path: the metrics
// listener shows it to anybody.
func (e *edge) diskTrouble() string {
	err := e.diskFailure
	if e.disk != nil {
		err = e.disk.Err()
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ENOSPC):
		return "the disk tier is out of use: the file system is full"
	}
	return "the disk tier is out of use: see the log"
}

// gatedTierBytes is the size of the tier behind the gate: the disk if there is one, else the memory without the stage.
func gatedTierBytes(c *config.Config) int64 {
	if n := len(c.Cache.Disk.Paths); n > 0 {
		return int64(n) * int64(c.Cache.Disk.MaxBytes)
	}
	return int64(c.Cache.Memory.MaxBytes - c.Cache.Memory.StageBytes)
}

// gatedTierFill is how full the tier behind the gate is, in [0, 1].
func (e *edge) gatedTierFill() float64 {
	if e.disk == nil {
		return e.store.Fill()
	}
	least := 1.0 // one directory that still fills is room
	for _, s := range e.disk.Stores() {
		if s.Err() == nil {
			least = min(least, s.Fill())
		}
	}
	return least
}

// diskMemory is the most memory that the disk tier takes: its index, what waits to be written, and buffers.
func (e *edge) diskMemory() int64 {
	if e.disk == nil {
		return 0
	}
	const buffers = 32 << 20 // of segments being written, of reads, and of heads that are asked for often
	return int64(len(e.disk.Stores())) * (int64(e.config.Cache.Disk.MaxBytes)/indexShare + diskQueueBytes + buffers)
}
