package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Disk is the disk tier, behind the memory.
type Disk struct {
	Paths          []string // directories, one for each device, created if missing; none is no disk tier
	MaxBytes       Size     // the size of all files in each directory
	MaxObjectBytes Size     // the size of one body; above 0, at most an eighth of MaxBytes
	MinFree        Free     // the free space of each file system
	WriteRate      Size     // bytes written to each directory in a second; 0 is no limit
}

// Free is what has to stay free: a share, or a number of bytes if Share is 0.
type Free struct {
	Share float64 // in [0, 0.9]
	Bytes Size
}

// diskShare is the smallest ratio of max_bytes to max_object_bytes.
const diskShare = 8

const (
	diskPath        = "cache.disk.path"
	diskMaxBytes    = "cache.disk.max_bytes"
	diskObjectBytes = "cache.disk.max_object_bytes"
)

func (d *Disk) table() table {
	return table{
		restart("path", oneOrList(&d.Paths, nil, wantDirectory), `A directory for the disk tier alone, or a list with one for each device; "" is no disk tier.`).asBasic().withExample("/var/cache/edgeproxy"),
		restart("max_bytes", size(&d.MaxBytes, 10*GiB).atLeast(4*MiB), "The size of all files in each path, never exceeded.").asBasic(),
		restart("max_object_bytes", size(&d.MaxObjectBytes, GiB).atLeast(1), "The largest body on the disk; at most an eighth of max_bytes.").asDependent(),
		restart("min_free", parsedUnquoted(&d.MinFree, Free{Share: 0.05}, "size, or percent", wantFree, parseFree, Free.String).withBounds("0% to 90%, or a size"),
			"How much of the file system stays free: the tier shrinks if others fill it."),
		restart("write_rate", parsedUnquoted(&d.WriteRate, 0, "size a second", wantRate, parseByteRate, formatByteRate),
			"The most that is written to each path, on average; 0B/s is no limit. Responses beyond it are not stored.").withExample("50MB/s"),
	}
}

const wantDirectory = `must be a directory, a list of them, or "" for none`

// parsedUnquoted is parsed for text that needs no quotes in YAML.
func parsedUnquoted[T any](field *T, byDefault T, what, want string, read func(string) (T, error), write func(T) string) *scalar[T] {
	s := parsed(field, byDefault, what, want, read, write)
	s.yaml = write
	return s
}

const (
	wantFree = "must be a share of the file system such as 5%, at most 90%, or a size with a unit (B, KB, KiB, MB, MiB, GB or GiB), such as 20GiB"
	wantRate = "must be a size a second with a unit (B/s, KB/s, KiB/s, MB/s, MiB/s, GB/s or GiB/s), such as 50MB/s"
)

// parseFree reads a share of 0 to 90 %, or a size.
func parseFree(text string) (Free, error) {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		bytes, err := ParseSize(text)
		if err != nil {
			return Free{}, errors.New(wantFree)
		}
		return Free{Bytes: bytes}, nil
	}
	share, err := strconv.ParseFloat(number, 64)
	if err != nil || !validNumber(number) || share < 0 || share > 90 {
		return Free{}, errors.New(wantFree)
	}
	return Free{Share: share / 100}, nil
}

// String returns f as in a file.
func (f Free) String() string {
	if f.Bytes > 0 {
		return f.Bytes.String()
	}
	return strconv.FormatFloat(100*f.Share, 'f', -1, 64) + "%"
}

// parseByteRate reads a size with /s behind it. 0 may stand without /s.
func parseByteRate(text string) (Size, error) {
	bare, ok := strings.CutSuffix(text, "/s")
	n, err := ParseSize(bare)
	if err != nil || !ok && n != 0 {
		return 0, errors.New(wantRate)
	}
	return n, nil
}

func formatByteRate(n Size) string { return n.String() + "/s" }

// fitDisk lowers the default of cache.disk.max_object_bytes if max_bytes is small.
func (c *Config) fitDisk(src *source) {
	if d := &c.Cache.Disk; !src.given(diskObjectBytes) {
		d.MaxObjectBytes = max(min(d.MaxObjectBytes, d.MaxBytes/diskShare), 1)
	}
}

// disk checks the disk tier.
func (v *validator) disk() {
	d := &v.c.Cache.Disk
	v.diskPaths(d.Paths)
	if most := d.MaxBytes / diskShare; d.MaxObjectBytes > most && v.noErrorAt(diskMaxBytes, diskObjectBytes) {
		v.fail(diskObjectBytes, "must be at most "+most.String()+", an eighth of max_bytes")
	}
	defaults := withDefaults((*Disk).table)
	if len(d.Paths) == 0 && (d.MaxBytes != defaults.MaxBytes || d.MinFree != defaults.MinFree || d.WriteRate != defaults.WriteRate) && v.noErrorAt("cache.disk") {
		v.fail("cache.disk", "needs a path as well: without one there is no disk tier")
	}
}

func (v *validator) diskPaths(paths []string) {
	for i, path := range paths {
		at := v.src.elementPath(diskPath, i)
		switch {
		case !v.noErrorAt(at):
		case path == "" || strings.ContainsFunc(path, unicode.IsControl):
			v.fail(at, wantDirectory)
		case slices.Contains(paths[:i], path):
			v.fail(at, "each directory must be listed once")
		}
	}
}
