package device

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// File is a file of a Dir: for reading, or for writing and reading.
type File struct {
	dir      *Dir
	name     string
	hook     Hook
	file     *os.File    // for all but writes past the page cache
	fd       int         // descriptor of file, for calls that are made while it is surely open
	readOnly bool        // and for reading alone
	write    *os.File    // nil: file
	direct   atomic.Bool // writes go past the page cache, and are of whole pages
	flowed   int64       // how far writes have been pushed to the device where they are not direct
}

// Create makes a file that must not be there yet. Direct asks for writes past the page cache: of whole
// pages, from memory that begins at one. Where the file system has none, they go through it.
func (d *Dir) Create(name string, direct bool) (*File, error) {
	if err := d.hook.ask(Create, name, 0, 0); err != nil {
		return nil, err
	}
	r, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	w, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	f := &File{dir: d, name: name, hook: d.hook, file: r, fd: int(r.Fd()), write: w}
	if direct {
		f.direct.Store(setDirect(w, true) == nil)
	}
	return f, nil
}

// Open opens a file, for reading alone where more is not allowed.
func (d *Dir) Open(name string) (*File, error) {
	if err := d.hook.ask(Open, name, 0, 0); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		return &File{dir: d, name: name, hook: d.hook, file: f, fd: int(f.Fd())}, nil
	}
	if f, err = d.root.Open(name); err != nil {
		return nil, err
	}
	return &File{dir: d, name: name, hook: d.hook, file: f, fd: int(f.Fd()), readOnly: true}, nil
}

// Append opens a file for writes through the page cache, and makes it if it is not there.
func (d *Dir) Append(name string) (*File, error) {
	if err := d.hook.ask(Create, name, 0, 0); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{dir: d, name: name, hook: d.hook, file: f, fd: int(f.Fd()), write: f}, nil
}

// Direct reports whether writes go past the page cache.
func (f *File) Direct() bool { return f.direct.Load() }

// OS returns the file as sendfile takes it: for reading. It belongs to f.
func (f *File) OS() *os.File { return f.file }

// Bytes returns the length of the file.
func (f *File) Bytes() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadAt implements io.ReaderAt. It may wait for the device.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.hook.ask(Read, f.name, offset, int64(len(p))); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, offset)
}

// ReadNow is ReadAt of what lies in memory by now: it does not wait for the device. It reports false
// where that is not all of p. The file must not be closed meanwhile.
func (f *File) ReadNow(p []byte, offset int64) bool {
	if f.hook != nil {
		return false // tests ask for each read by ReadAt
	}
	return readNow(f.fd, p, offset)
}

// Resident reports whether all of a range lies in memory by now, so that to read it, or to send it, does not wait for the device. Where the system
// does not tell it is false. The file must not be closed meanwhile.
func (f *File) Resident(offset, bytes int64) bool {
	if f.hook != nil {
		return false
	}
	page := int64(os.Getpagesize())
	pages, ok := cached(f.fd, offset, bytes)
	return ok && pages == (offset+bytes-1)/page-offset/page+1
}

// Stamp returns when the system last saw the file change, its content or its state; false where it does not tell. The file must not be closed
// meanwhile.
func (f *File) Stamp() (at time.Time, ok bool) {
	if f.hook != nil {
		return time.Time{}, false // tests ask for each read by ReadAt
	}
	return stamp(f.fd)
}

// WriteAt implements io.WriterAt. After an error some of p may have been written.
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	w := f.write
	switch {
	case w == nil && f.readOnly:
		return 0, os.ErrPermission
	case w == nil:
		w = f.file
	}
	if err := f.hook.ask(Write, f.name, offset, int64(len(p))); err != nil {
		return writeShort(w, p, offset, err), err
	}
	n, err := w.WriteAt(p, offset)
	if err != nil && f.direct.Load() && refusedDirect(err) {
		f.direct.Store(false)
		if err = setDirect(w, false); err == nil {
			n, err = w.WriteAt(p, offset)
		}
	}
	if err == nil && w == f.write && !f.direct.Load() {
		f.flow(offset + int64(n))
	}
	return n, err
}

// writeShort writes as much of p as err lets through, if it is a *ShortError.
func writeShort(w *os.File, p []byte, offset int64, err error) int {
	var short *ShortError
	if !errors.As(err, &short) || short.Bytes >= int64(len(p)) {
		return 0
	}
	_ = setDirect(w, false)
	n, _ := w.WriteAt(p[:short.Bytes], offset)
	return n
}

// mostUnwritten is how many bytes may wait in the page cache to be written.
const mostUnwritten = 8 << 20

// flow keeps writes that go through the page cache from piling up there: what was written up to end is pushed
// to the device at once, and what is further behind by now is waited for and leaves the memory.
func (f *File) flow(end int64) {
	if end <= f.flowed {
		return
	}
	push(f.write, f.flowed, end-f.flowed)
	if from := end - 2*mostUnwritten; from >= 0 && f.flowed/mostUnwritten != end/mostUnwritten {
		settle(f.write, from, mostUnwritten)
	}
	f.flowed = end
}

// Sync has what was written on the disk.
func (f *File) Sync() error {
	if err := f.hook.ask(Sync, f.name, 0, 0); err != nil {
		return err
	}
	return dataSync(f.file)
}

// Punch frees a range of whole pages, which then reads as zeros. The error is ErrUnsupported where the file system
// has no holes.
func (f *File) Punch(offset, bytes int64) error {
	if err := f.hook.ask(Punch, f.name, offset, bytes); err != nil {
		return err
	}
	if f.readOnly {
		return os.ErrPermission
	}
	return punch(f.file, offset, bytes)
}

// Hole returns where the first hole at or behind offset begins; the end of the file, if there is none. Data
// returns where the first byte at or behind offset is that lies in no hole; the end of the file if there is none.
func (f *File) Hole(offset int64) (int64, error) { return f.seek(offset, true) }

// Data is described with Hole.
func (f *File) Data(offset int64) (int64, error) { return f.seek(offset, false) }

func (f *File) seek(offset int64, hole bool) (int64, error) {
	if err := f.hook.ask(Read, f.name, offset, 0); err != nil {
		return 0, err
	}
	size, err := f.Bytes()
	if err != nil || offset >= size {
		return size, err
	}
	return seek(f.file, offset, size, hole)
}

// Cut makes the file end at size.
func (f *File) Cut(size int64) error {
	if err := f.hook.ask(Cut, f.name, size, 0); err != nil {
		return err
	}
	return f.file.Truncate(size)
}

// Forget lets the page cache drop what it has of the file.
func (f *File) Forget() { forget(f.file) }

// Done ends writing: what was opened for that alone is closed. Later writes go through the page cache.
func (f *File) Done() error {
	w := f.write
	f.write = nil
	f.direct.Store(false)
	if w == nil || w == f.file {
		return nil
	}
	return w.Close()
}

// Close closes the file. Calls in progress end as they would have.
func (f *File) Close() error { return errors.Join(f.Done(), f.file.Close()) }
