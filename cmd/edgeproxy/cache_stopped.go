package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/http/wire"
)

// stoppedTier is the directories of a stopped proxy.
type stoppedTier []*disk.Directory

// openStopped opens directories. The error is statefile.ErrInUse while a proxy runs on one.
func openStopped(paths []string) (diskTier, error) {
	var t stoppedTier
	for _, path := range paths {
		dir, err := disk.OpenDirectory(path)
		if err != nil {
			t.close()
			return nil, err
		}
		t = append(t, dir)
	}
	return t, nil
}

func (t stoppedTier) close() {
	for _, d := range t {
		d.Close()
	}
}

// each calls show for every record, until ctx ends or show fails.
func (t stoppedTier) each(ctx context.Context, show func(d *disk.Directory, r *disk.Record) error) (err error) {
	for _, d := range t {
		d.Each(func(r *disk.Record) bool {
			err = errors.Join(show(d, r), ctx.Err())
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stoppedStats is the document of cache stats for a stopped proxy.
type stoppedStats struct {
	Running    bool  `json:"running"` // always false
	Objects    int64 `json:"objects"`
	BodyBytes  int64 `json:"body_bytes"`
	Bytes      int64 `json:"bytes"` // the sum over all files
	Segments   int64 `json:"segments"`
	Unreadable int64 `json:"unreadable"` // records whose heads are damaged
}

func (t stoppedTier) stats(ctx context.Context) (any, error) { return t.totals(ctx) }

func (t stoppedTier) totals(ctx context.Context) (stoppedStats, error) {
	var s stoppedStats
	for _, d := range t {
		st := d.Stats()
		s.Bytes += st.Bytes
		s.Segments += st.Segments
	}
	now := time.Now()
	err := t.each(ctx, func(_ *disk.Directory, r *disk.Record) error {
		if o, ok := edge.ObjectOf(r.Block, r.BodyBytes, now); ok {
			s.Objects++
			s.BodyBytes += o.Bytes
		} else if r.Damage != nil {
			s.Unreadable++
		}
		return nil
	})
	return s, err
}

func (t stoppedTier) objects(ctx context.Context, show func(edge.Object) error) error {
	now := time.Now()
	return t.each(ctx, func(_ *disk.Directory, r *disk.Record) error {
		if o, ok := edge.ObjectOf(r.Block, r.BodyBytes, now); ok {
			return show(o)
		}
		return nil
	})
}

func (t stoppedTier) verify(ctx context.Context, show func(edge.Damage) error) (v edge.Verified, err error) {
	err = t.each(ctx, func(d *disk.Directory, r *disk.Record) error {
		return v.Note(edge.Damage{File: filepath.Join(d.Path(), r.File), Offset: r.Offset, Bytes: r.Bytes}, r.Check(), show)
	})
	return v, err
}

func (t stoppedTier) drop(ctx context.Context, urls []string) (string, error) {
	if len(urls) == 0 {
		for _, d := range t {
			if err := d.Clear(); err != nil {
				return "", err
			}
		}
		return "dropped: everything", nil
	}
	wanted := map[string]bool{}
	for _, u := range urls {
		canonical, err := canonicalURL(u)
		if err != nil {
			return "", &usageError{fmt.Errorf("%q: must be an absolute URL such as http://example.com/path?query", u)}
		}
		wanted[canonical] = true
	}
	objects, now := 0, time.Now()
	err := t.each(ctx, func(d *disk.Directory, r *disk.Record) error {
		if o, ok := edge.ObjectOf(r.Block, r.BodyBytes, now); ok && wanted[o.URL] {
			d.Drop(r)
			objects++
		}
		return nil
	})
	for _, d := range t {
		if err == nil {
			err = d.Commit()
		}
	}
	return fmt.Sprintf("dropped: url %q (objects: %d)", urls, objects), err
}

// canonicalURL returns a URL in the form of edge.Object.URL.
func canonicalURL(raw string) (string, error) {
	scheme, _, _ := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	target, err := wire.ParseTarget([]byte(raw), scheme, false, new([]byte))
	if err != nil {
		return "", err
	}
	host, err := wire.AppendHost(nil, target.Authority, scheme)
	if err != nil {
		return "", err
	}
	return scheme + "://" + string(host) + string(target.Normal), nil
}
