package edge

import (
	"path/filepath"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/disk"
)

// DiskStatus is the disk tier in GET /status and GET /cache/stats. TierStatus has the sums over all directories.
type DiskStatus struct {
	TierStatus
	Running     bool              `json:"running"`           // always true
	Trouble     string            `json:"trouble,omitempty"` // why the tier is not in use
	Directories []DirectoryStatus `json:"directories"`
}

// DirectoryStatus is one directory. Counts are since the start of the process.
type DirectoryStatus struct {
	Path          string  `json:"path"`
	Trouble       string  `json:"trouble,omitempty"` // why it is not in use
	Objects       int64   `json:"objects"`
	Bytes         int64   `json:"bytes"`
	MaxBytes      int64   `json:"max_bytes"` // at the moment: less than the setting if the file system is full
	LiveBytes     int64   `json:"live_bytes"`
	Segments      int64   `json:"segments"`
	Stayed        int64   `json:"segments_stayed"`   // how often a segment of small records was kept, because much of it is in demand
	Unfilled      int64   `json:"unfilled_segments"` // whose records are not indexed yet, after a start
	IndexBytes    int64   `json:"index_bytes"`
	IndexLoad     float64 `json:"index_load_ratio"`
	QueueBytes    int64   `json:"queue_bytes"`
	Hits          int64   `json:"hits"`
	QueueHits     int64   `json:"queue_hits"` // hits of records that were not written yet
	Misses        int64   `json:"misses"`
	DeviceWrites  int64   `json:"device_writes"`
	DeviceBytes   int64   `json:"device_write_bytes"`
	RewriteBytes  int64   `json:"device_rewrite_bytes"` // part of device_write_bytes: records rewritten to keep them
	DeviceReads   int64   `json:"device_reads"`
	ReadBytes     int64   `json:"device_read_bytes"`
	Damaged       int64   `json:"damaged"`
	ReadErrors    int64   `json:"read_errors"`
	SlowReads     int64   `json:"slow_reads"`
	WriteErrors   int64   `json:"write_errors"`
	NoSpace       int64   `json:"no_space"`
	Failures      int64   `json:"failures"`
	PunchesHoles  bool    `json:"punches_holes"`
	PastPageCache bool    `json:"writes_past_page_cache"`
}

// diskStatus returns nil if no disk tier is configured.
func (sg *storage) diskStatus(tier cache.TierStats, hit cache.HitPart) *DiskStatus {
	if len(sg.config.Cache.Disk.Paths) == 0 {
		return nil
	}
	s := &DiskStatus{TierStatus: statusOfTier(tier, hit), Running: true, Trouble: sg.diskTrouble(), Directories: []DirectoryStatus{}}
	s.Evictions = map[string]int64{"capacity": tier.Capacity, "variants": tier.Variants, "lost": tier.Lost}
	if sg.disk == nil {
		return s
	}
	for i, store := range sg.disk.Stores() {
		s.Directories = append(s.Directories, statusOfDirectory(sg.config.Cache.Disk.Paths[i], store))
	}
	return s
}

func statusOfDirectory(path string, store *disk.Store) DirectoryStatus {
	st := store.Stats()
	s := DirectoryStatus{
		Path: path, Objects: st.Objects, Bytes: st.Bytes, MaxBytes: st.MaxBytes, LiveBytes: st.LiveBytes, Segments: st.Segments, Stayed: st.Stays, Unfilled: st.Unfilled,
		IndexBytes: st.IndexBytes, IndexLoad: st.IndexLoad, QueueBytes: st.WaitingBytes,
		Hits: st.Hits, QueueHits: st.MemoryHits, Misses: st.Misses,
		DeviceWrites: st.Writes, DeviceBytes: st.WriteBytes, RewriteBytes: st.RewriteBytes, DeviceReads: st.Reads, ReadBytes: st.ReadBytes,
		Damaged: st.Damaged, ReadErrors: st.ReadErrors, SlowReads: st.SlowReads, WriteErrors: st.WriteErrors, NoSpace: st.NoSpace, Failures: st.Failures,
		PunchesHoles: st.Punches, PastPageCache: st.WritesDirectly,
	}
	if err := store.Err(); err != nil {
		s.Trouble = err.Error()
	}
	return s
}

// adminDisk implements admin.Disk.
type adminDisk struct{ e *Edge }

// Stats implements admin.Disk.
func (s adminDisk) Stats() any {
	return s.e.diskStatus(s.e.store.Stats().Disk, s.e.store.HitParts().Disk)
}

// List implements admin.Disk.
func (s adminDisk) List(show func(any) error) error {
	now := time.Now()
	var failed error
	err := s.e.disk.Each(func(i *disk.Item) bool {
		if o, ok := ObjectOf(i.Block, i.BodyBytes, now); ok {
			o.Hits = i.Hits
			failed = show(o)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// Verify implements admin.Disk.
func (s adminDisk) Verify(show func(any) error) error {
	var v Verified
	for i, store := range s.e.disk.Stores() {
		path := s.e.config.Cache.Disk.Paths[i]
		if err := store.Flush(); err != nil { // the write queue cannot be verified
			return err
		}
		var failed error
		err := store.Verify(func(c disk.Checked) bool {
			d := Damage{File: filepath.Join(path, c.File), Offset: c.Offset, Bytes: c.Bytes}
			failed = v.Note(d, c.Err, func(d Damage) error { return show(VerifyLine{Damage: &d}) })
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
	}
	return show(VerifyLine{Verified: &v})
}
