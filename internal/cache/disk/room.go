package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"edgeproxy/internal/cache/disk/device"
)

// Room returns the size of the file system of path, and its free bytes. If path does not exist yet, it is the file system where it would be
// made. The error is one of the file system, or errors.ErrUnsupported.
func Room(path string) (free, total int64, err error) {
	for {
		dir, err := device.OpenDir(path, nil)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
			path = filepath.Dir(path)
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("disk tier: %w", err)
		}
		room, err := dir.Room()
		_ = dir.Close() // only read
		return room.Free, room.Total, err
	}
}

// Held returns how many records can be found, and about how many bytes they take; 0 of a directory that has failed. It is cheap enough to call
// for every response.
func (s *Store) Held() (objects, bytes int64) {
	v := s.volume.Load()
	if v == nil {
		return 0, 0
	}
	return int64(v.index.Len()), v.live()
}

// Fill returns how full the Store is, in [0, 1]: its size by its bound at the moment. It is cheap enough to call for every request.
func (s *Store) Fill() float64 {
	v := s.volume.Load()
	if v == nil {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return min(float64(v.used)/float64(max(v.limit, 1)), 1)
}
