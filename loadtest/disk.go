package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
)

// With --disk every proxy keeps its cache on a disk, and edgeproxy a memory of --capacity before it. What that costs is
// told by the system: the bytes that the processes had written to a block device, metadata of their own included.

// minDiskBytes is the least cache.disk.max_bytes that edgeproxy takes.
const minDiskBytes = 16 << 20

// The largest body that edgeproxy's disk takes is at most this part of it.
const diskObjectShare = 8

// planDisk works out the disk.
func (p *plan) planDisk() error {
	if p.disk == (amount{}) {
		return nil
	}
	p.diskBytes = p.disk.of(p.facts.ChargedBytes())
	if p.diskBytes < minDiskBytes {
		return usagef("--disk %s: that is %s here, and edgeproxy takes no less than %s: raise --disk or --limit",
			p.disk.text, humanize.IBytes(uint64(p.diskBytes)), humanize.IBytes(minDiskBytes))
	}
	p.diskObjectBytes = min(max(p.replay.largest(), minMaxObjectBytes), p.diskBytes/diskObjectShare)
	return nil
}

// cacheBytes is the size of the tier that admission guards.
func (p *plan) cacheBytes() int64 {
	if p.diskBytes > 0 {
		return p.diskBytes
	}
	return p.maxBytes
}

// largestStored is the longest body that is stored at all.
func (p *plan) largestStored() int64 { return max(p.maxObjectBytes, p.diskObjectBytes) }

// cacheFolder is where the caches of other proxies lie: below files with a disk, else in memory where that has room, ""
// where it has not.
func (p *plan) cacheFolder(files string) string {
	if p.diskBytes > 0 {
		return files
	}
	return memoryFolder(p.maxBytes)
}

// homes returns where the other files of other proxies lie, their logs among them. With a disk that is in memory, where
// there is room: what they write is counted.
func (p *plan) homes(files string) string {
	if p.diskBytes > 0 {
		if dir := memoryFolder(logBytes * p.facts.Requests); dir != "" {
			return dir
		}
	}
	return files
}

// logBytes is more than the longest line of a proxy's log for a request.
const logBytes = 200

// diskFolder is where edgeproxy has its disk. With it goes what is in it.
type diskFolder string

func newDiskFolder(dir, policy string) (diskFolder, error) {
	path := filepath.Join(dir, "disk-"+policy)
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for edgeproxy's disk: %w", err)
	}
	return diskFolder(path), nil
}

// Close removes the folder, if there is one.
func (d diskFolder) Close() error {
	if d == "" {
		return nil
	}
	return os.RemoveAll(string(d))
}

// onDisk is an edge that has a disk.
type onDisk struct {
	*edge
	folder diskFolder
}

func (e onDisk) Close() error { return errors.Join(e.edge.Close(), e.folder.Close()) }

// recorder is a proxy that knows, after Close, what its processes had written to block devices; false where the system
// does not tell.
type recorder interface {
	written() (bytes int64, ok bool)
}

// written is what the process and its children, which it has waited for, had written to block devices. It is known
// after Close.
func (p *process) written() (int64, bool) {
	if p.cmd.ProcessState == nil {
		return 0, false
	}
	return writtenBy(p.cmd.ProcessState)
}
