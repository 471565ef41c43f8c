package model

import (
	"io"

	"edgeproxy/internal/cache"
)

// zeros is content of so many bytes, all of them 0. It takes no memory, for it lies in none.
type zeros int64

// Size implements cache.File.
func (z zeros) Size() int64 { return int64(z) }

// ReadAt implements io.ReaderAt.
func (z zeros) ReadAt(p []byte, offset int64) (int, error) {
	n := int(max(0, min(int64(len(p)), int64(z)-offset)))
	clear(p[:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Same implements cache.File. The entries of a model share nothing.
func (zeros) Same(cache.File) bool { return false }

// Update implements cache.File.
func (zeros) Update(*cache.Entry) {}

// Remove implements cache.File.
func (zeros) Remove() {}
