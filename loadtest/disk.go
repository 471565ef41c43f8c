package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"edgeproxy/internal/lab/command"
)

// With --disk every proxy keeps its cache on a disk, and edgeproxy has memory of --capacity before it. The cost is measured
// by the system: the bytes that the processes wrote to a block device, including their own metadata.

// minDiskBytes is the smallest cache.disk.max_bytes that edgeproxy accepts.
const minDiskBytes = 16 << 20

// diskObjectShare bounds the largest body on edgeproxy's disk: 1/diskObjectShare of its size.
const diskObjectShare = 8

// planDisk computes the size of the disk and of its largest body.
func (p *plan) planDisk() error {
	if p.disk == (amount{}) {
		return nil
	}
	p.diskBytes = p.disk.of(p.facts.ChargedBytes())
	if p.diskBytes < minDiskBytes {
		return command.Usagef("--disk %s: that is %s here, and edgeproxy takes no less than %s: raise --disk or --limit",
			p.disk.text, humanize.IBytes(uint64(p.diskBytes)), humanize.IBytes(minDiskBytes))
	}
	p.diskObjectBytes = min(max(p.replay.largest(), minMaxObjectBytes), p.diskBytes/diskObjectShare)
	return nil
}

// cacheBytes returns the size of the tier behind admission.
func (p *plan) cacheBytes() int64 {
	if p.diskBytes > 0 {
		return p.diskBytes
	}
	return p.maxBytes
}

// largestStored returns the size of the largest body that any tier stores.
func (p *plan) largestStored() int64 { return max(p.maxObjectBytes, p.diskObjectBytes) }

// cacheFolder returns the folder for the caches of baselines: files with a disk, else a folder in memory, or "" if memory
// has no room.
func (p *plan) cacheFolder(files string) string {
	if p.diskBytes > 0 {
		return files
	}
	return memoryFolder(p.maxBytes)
}

// serverFolder returns the folder for the other files of baselines, such as logs. With a disk it is in memory if there is room,
// because writes to block devices are counted.
func (p *plan) serverFolder(files string) string {
	if p.diskBytes > 0 {
		if dir := memoryFolder(logBytes * p.facts.Requests); dir != "" {
			return dir
		}
	}
	return files
}

// logBytes bounds the length of a log line.
const logBytes = 200

// diskFolder is the folder of edgeproxy's disk tier.
type diskFolder string

func newDiskFolder(dir, policy string) (diskFolder, error) {
	path := filepath.Join(dir, "disk-"+policy)
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for edgeproxy's disk: %w", err)
	}
	return diskFolder(path), nil
}

// Close removes the folder and its contents; "" is no folder.
func (d diskFolder) Close() error {
	if d == "" {
		return nil
	}
	return os.RemoveAll(string(d))
}

// onDisk is an edge with a disk tier. Its Close removes the folder too.
type onDisk struct {
	*edge
	folder diskFolder
}

func (e onDisk) Close() error { return errors.Join(e.edge.Close(), e.folder.Close()) }

// writeReporter is a proxy that knows, after Close, how many bytes its processes wrote to block devices; false if the system
// does not say.
type writeReporter interface {
	Written() (bytes int64, ok bool)
}
