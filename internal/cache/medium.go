package cache

import "io"

// Medium is where a Store has content lie that does not lie in memory: files, for example. It
// is safe for concurrent use. The Store keeps the heads, decides what stays, and removes what no
// entry has any more.
type Medium interface {
	// Largest is the length in bytes of the longest content that it takes. Content of up to
	// Options.MaxObjectBytes counts as part of MaxBytes; what is longer counts with its head
	// alone, and only the Medium bounds it.
	Largest() int64
	// Create begins a piece of content of length bytes, -1 if unknown. An error says that there
	// is no place for it.
	Create(length int64) (Draft, error)
}

// Draft is content that is being written. One goroutine at a time uses it. It ends with one
// call of Finish or Abort.
type Draft interface {
	io.Writer
	// Finish makes a File of all that was written: the content of e. What outlives the process
	// keeps e beside it (AppendEntry); nil is not kept, for admission has held it back. After
	// an error nothing stays behind.
	Finish(e *Entry) (File, error)
	// Abort leaves nothing behind.
	Abort()
}

// File is content that lies in no memory: complete, never changed, and read by offset. It is
// safe for concurrent use.
type File interface {
	io.ReaderAt
	// Size returns its length in bytes.
	Size() int64
	// Same reports whether other is known to hold the same bytes, so that one of the two may go.
	// It must not wait. A File that keeps an entry beside itself is the same as no other.
	Same(other File) bool
	// Update says that e has it now: an entry that a 304 has renewed, that a soft purge has made
	// stale, or that was promoted. What outlives the process has e beside it when Update returns,
	// unless it has a later one, or was removed.
	Update(e *Entry)
	// Remove says that no entry has it any more. What is being read from it goes on, and
	// nothing of it stays behind when that has ended.
	Remove()
}

// Kept returns f as content. When no entry of the Store has it any more, the Store removes f.
func Kept(f File) Content { return Content{kept: &kept{File: f}} }
