//go:build !linux

package device

import (
	"os"
	"time"
)

// This system offers, or this program uses, nothing of what Linux has for a cache: writes go
// through the page cache, reads may wait, and nothing is punched out.

func setDirect(_ *os.File, direct bool) error {
	if direct {
		return ErrUnsupported
	}
	return nil
}

func pastTheCache(int) (*os.File, error) { return nil, ErrUnsupported }

func hold(int, int) (*os.File, error) { return nil, ErrUnsupported }

func refusedDirect(error) bool { return false }

func room(*os.File) (Room, error) { return Room{}, ErrUnsupported }

func readNow(int, []byte, int64) bool { return false }

func cached(int, int64, int64) (int64, bool) { return 0, false }

func stamp(int) (time.Time, bool) { return time.Time{}, false }

func blockBytes(int) int64 { return 0 }

func push(*os.File, int64, int64) {}

func settle(*os.File, int64, int64) {}

func forget(*os.File) {}

func dataSync(f *os.File) error { return f.Sync() }

func punch(*os.File, int64, int64) error { return ErrUnsupported }

func seek(_ *os.File, offset, size int64, hole bool) (int64, error) {
	if hole {
		return size, nil
	}
	return offset, nil
}

func onDisk(info os.FileInfo) int64 { return info.Size() }
