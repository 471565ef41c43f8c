package edge

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
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/lab/shadow"
)

const (
	// purgesDir is the subdirectory of a disk tier's directory with the records of purges.
	purgesDir = "purges"
	// indexShare bounds a directory's index in memory: 1/indexShare of max_bytes.
	indexShare = 400
	// diskQueueBytes bounds what waits in memory for a directory's writer.
	diskQueueBytes = 32 << 20
)

// storage is what is stored, and what decides on it.
type storage struct {
	*core
	store       *cache.Store
	disk        *disk.Group // nil: no disk tier
	diskFailure error       // why a configured disk tier is not in use
	purges      *purge.Table
	gate        *admission.Gate
	keySeed     uint64         // seed of the hash of keys
	shadow      *shadow.Shadow // nil: no shadow policies
}

// diskOptions returns the options of each directory of c's disk tier; none if there is no disk tier.
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

// hasPurges returns nil if the directory at path has purge records, else why not.
func hasPurges(path string) error {
	_, err := os.Stat(filepath.Join(path, purgesDir))
	return err
}

// directoryWithPurges returns the directory that has the purge records, or shall get them. It is one whose stored
// responses are kept.
func directoryWithPurges(all []disk.Options) string {
	dropped := disk.Dropped(all...)
	home := ""
	for _, o := range all {
		switch err := hasPurges(o.Path); {
		case slices.Contains(dropped, o.Path):
		case err == nil:
			return o.Path
		case home == "" || !errors.Is(err, fs.ErrNotExist) && errors.Is(hasPurges(home), fs.ErrNotExist): // it cannot be read, so it may have them
			home = o.Path
		}
	}
	return home
}

// minFree returns how many bytes of the file system stay free. A share counts of the file system's size or, if that is unknown,
// of max_bytes.
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

// diskFaults checks the directories of the disk tier. A directory that the running proxy uses is no fault.
func diskFaults(c, running *config.Config) config.Errors {
	faults, _ := diskProblems(c, running)
	return faults
}

// diskProblems returns what a start refuses (faults), and what it goes on without (out). running is the configuration in
// force, nil at a start; its directories exist already.
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
			out = append(out, c.Warn(at, "the disk tier cannot be used; the proxy runs without it until its next start: "+err.Error()))
		case errors.Is(err, disk.ErrTooSmall):
			faults = append(faults, c.Fault(maxBytes, "must be more, or an empty directory: "+err.Error()))
		default:
			faults = append(faults, c.Fault(at, "must be a directory of its own: "+err.Error()))
		}
	}
	return faults, out
}

// makeableDisk returns why the directory of o, one of all, or its purgesDir cannot be created.
func makeableDisk(o disk.Options, all []disk.Options) error {
	if err := checkCreatable(o.Path); err != nil || o.Path != directoryWithPurges(all) {
		return err
	}
	return checkCreatable(filepath.Join(o.Path, purgesDir))
}

// isTransient reports whether err may go away without a change of the configuration: the device fails, is full or is
// read-only.
func isTransient(err error) bool {
	for _, e := range []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, disk.ErrReadOnly} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// openDisk opens the disk tier, if the configuration has one, and its purge records. keys is the seed of the key hash so far, 0
// for none. A directory that is foreign, of a newer version or in use is an error. After a transient error the proxy runs
// without a disk tier.
func (sg *storage) openDisk(keys uint64) error {
	sg.purges = purge.New(sg.seams.Marks)
	paths := sg.config.Cache.Disk.Paths
	if len(paths) == 0 {
		return nil
	}
	var purges *purge.Table
	all := diskOptions(sg.config, sg.log)
	for i := range all {
		all[i].ReadWait, all[i].ReadDeadline = sg.seams.DiskWait, sg.seams.DiskWait
	}
	home := directoryWithPurges(all)
	group, err := disk.OpenGroup(all...)
	if err == nil {
		if purges, err = sg.openPurges(home, keys, group.Stats().Segments > 0); err != nil {
			group.Close()
		}
	}
	switch {
	case err != nil && isTransient(err):
		sg.diskFailure = err
		sg.log.Error("the disk tier cannot be used; the proxy runs without it until its next start", "path", paths, "error", err)
	case err != nil:
		return fmt.Errorf("cache.disk: %w", err)
	default:
		sg.disk, sg.purges = group, purges
		sg.removeStrayPurges(home)
		sg.registry.MustRegister(newDiskMetrics(group))
		st := group.Stats()
		sg.log.Info("the disk tier is open", "path", paths, "bytes", st.Bytes, "max_bytes", st.MaxBytes, "segments", st.Segments, "punches_holes", st.Punches)
	}
	return nil
}

// openPurges opens the purge records. stored says that the disk tier is not empty.
func (sg *storage) openPurges(path string, keys uint64, stored bool) (*purge.Table, error) {
	dir := filepath.Join(path, purgesDir)
	if _, err := os.Stat(dir); stored && errors.Is(err, fs.ErrNotExist) {
		sg.log.Warn("the disk tier has responses but no purge records, which were in a directory that is no longer listed: none of the responses is used", "path", path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return purge.Open(purge.Place{Dir: dir, KeySeed: keys, Log: sg.log}, sg.seams.Marks)
}

// removeStrayPurges removes purge records from directories other than home. They date from a time when such a directory was
// used alone. Once home left the list, they would pass for the records of all.
func (sg *storage) removeStrayPurges(home string) {
	for i, path := range sg.config.Cache.Disk.Paths {
		if path == home || sg.disk.Stores()[i].Err() != nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(path, purgesDir)); err != nil {
			sg.log.Warn("old purge records were not removed", "path", path, "error", err)
		}
	}
}

// closeDisk writes what is queued and closes the directories. Responses that are being sent from them go on.
func (sg *storage) closeDisk() {
	if sg.disk != nil {
		sg.disk.Close()
	}
	if sg.purges == nil {
		return
	}
	if err := sg.purges.Close(); err != nil {
		sg.log.Warn("purge records were not saved", "error", err)
	}
}

// diskTrouble returns why a configured disk tier is not in use; "" is no trouble. It names no path, because the metrics
// listener shows it to anybody.
func (sg *storage) diskTrouble() string {
	err := sg.diskFailure
	if sg.disk != nil {
		err = sg.disk.Err()
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ENOSPC):
		return outOfUse + "the file system is full"
	}
	return outOfUse + "see the log"
}

// outOfUse begins what diskTrouble says.
const outOfUse = "the disk tier is out of use: "

// gatedTierFill returns how full the tier behind the admission gate is, in [0, 1].
func (sg *storage) gatedTierFill() float64 {
	if sg.disk == nil {
		return sg.store.Fill()
	}
	least := 1.0 // the emptiest directory decides
	for _, s := range sg.disk.Stores() {
		if s.Err() == nil {
			least = min(least, s.Fill())
		}
	}
	return least
}

// gatedTierHeld returns how many objects the tier behind the admission gate holds, and their bytes.
func (sg *storage) gatedTierHeld() (objects, bytes int64) {
	if sg.disk == nil {
		return sg.store.Held()
	}
	for _, s := range sg.disk.Stores() {
		n, size := s.Held()
		objects, bytes = objects+n, bytes+size
	}
	return objects, bytes
}

// diskMemory returns the most memory that the disk tier takes: its index, its write queue and its buffers.
func (sg *storage) diskMemory() int64 {
	if sg.disk == nil {
		return 0
	}
	const buffers = 32 << 20 // for segments being written, for reads, and for frequently used response heads
	return int64(len(sg.disk.Stores())) * (int64(sg.config.Cache.Disk.MaxBytes)/indexShare + diskQueueBytes + buffers)
}
