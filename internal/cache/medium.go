package cache

import "io"

// File is content that lies in no memory: complete, never changed, and read by offset. It is
// safe for concurrent use.
type File interface {
	io.ReaderAt
	// Size returns its length in bytes.
	Size() int64
	// Same reports whether other is known to hold the same bytes. It must not wait.
	Same(other File) bool
	// Remove says that no entry has it any more. What is being read from it goes on, and
	// nothing of it stays behind when that has ended.
	Remove()
}

// Kept returns f as content. When no entry of the Store has it any more, the Store removes f.
func Kept(f File) Content { return Content{kept: &kept{File: f}} }
