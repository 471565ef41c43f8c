package cache

import "io"

// Medium holds content outside of memory: in files, for example. It is safe for concurrent use. The Store keeps the
// heads, decides what stays, and removes content that no entry refers to any more.
type Medium interface {
	// Largest is the length in bytes of the longest content that it takes. Content of up to Options.MaxObjectBytes
	// counts as part of MaxBytes. Of longer content only the head counts, and only the Medium bounds it.
	Largest() int64
	// Create begins a piece of content of length bytes, -1 if unknown. An error says that there is no place for it.
	Create(length int64) (Draft, error)
}

// Draft is content that is being written. One goroutine at a time uses it. It ends with one
// call of Finish or Abort.
type Draft interface {
	io.Writer
	// Finish makes a File of all that was written: the content of e. A Medium that outlives the process keeps e beside
	// it (AppendEntry). A nil e, of a response that admission has held back, is not kept. After an error nothing stays
	// behind.
	Finish(e *Entry) (File, error)
	// Abort leaves nothing behind.
	Abort()
}

// File is content outside of memory: complete, never changed, and read by offset. It is safe for concurrent use.
type File interface {
	io.ReaderAt
	// Size returns its length in bytes.
	Size() int64
	// Same reports whether other is known to hold the same bytes, so that one of the two can be removed. It must not
	// wait. A File that keeps an entry beside itself is the same as no other.
	Same(other File) bool
	// Update says that e is its entry now: e was renewed by a 304, made stale by a soft purge, or promoted. A File that
	// outlives the process has e beside it when Update returns, unless it has a later entry, or was removed.
	Update(e *Entry)
	// Remove says that no entry refers to it any more. Readers may finish, and nothing of the File stays behind after
	// that.
	Remove()
}

// Kept returns f as content. When no entry of the Store refers to it any more, the Store removes f.
func Kept(f File) Content { return Content{kept: &fileContent{File: f}} }
