package model

import "io"

// zeros is content of so many zero bytes. It takes no memory.
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
