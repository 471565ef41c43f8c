package edgetest

import (
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/test/testkit"
)

// openDisk opens the disk of e, if it is to have one.
func (e *Edge) openDisk(tb testing.TB, o *Options) {
	tb.Helper()
	if !o.Disk {
		return
	}
	path := o.DiskPath
	if path == "" {
		path = tb.TempDir()
	}
	var err error
	e.disk, err = disk.Open(disk.Options{
		Path: path, MaxBytes: max(disk.MinBytes, 4*o.MaxBytes), MeanObjectBytes: 4 << 10,
		ReadWait: testkit.Patience, ReadDeadline: testkit.Patience, // a machine that does much else is no slow device
	})
	must(tb, err)
}

// tier is the disk as the store has it; nil without.
func (e *Edge) tier() cache.Disk {
	if e.disk == nil {
		return nil
	}
	return e.disk
}

// Disk is where e keeps what it stores; nil without.
func (e *Edge) Disk() *disk.Store { return e.disk }
