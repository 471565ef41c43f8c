package statefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Last is what a file of records ends with, as another file knows it. A file that is cut at the border of two records, or loses its end
// to zeros, looks like one that is whole. Compared with Last it does not. The numbers are the caller's.
type Last [3]uint64

// A file of Last has two slots, in pages of their own. A slot is, little endian: magic [8] turn [8] numbers [24] checksum of all these [4]. Each
// write goes to the slot that the last one did not go to. So one that a loss of power interrupts leaves the value before, and nobody was told of
// the new one.
const (
	lastMagic = "edge\x00la\x1a"
	slotBytes = 8 + 8 + 24 + 4
	slotApart = 4096
)

// Slot returns what writes l in its turn, and where. Turns count from 1, and grow by one.
func (l Last) Slot(turn uint64) (b []byte, offset int64) {
	le := binary.LittleEndian
	b = le.AppendUint64(append(make([]byte, 0, slotBytes), lastMagic...), turn)
	for _, n := range l {
		b = le.AppendUint64(b, n)
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli())), int64(turn%2) * slotApart
}

// ReadLast returns the latest value that is written, and its turn; 0 if there is none.
func ReadLast(r io.ReaderAt) (l Last, turn uint64, err error) {
	le := binary.LittleEndian
	for slot := range int64(2) {
		var b [slotBytes]byte
		if n, err := r.ReadAt(b[:], slot*slotApart); err != nil && !errors.Is(err, io.EOF) {
			return Last{}, 0, err
		} else if n < slotBytes {
			continue
		}
		at := le.Uint64(b[8:])
		if string(b[:8]) != lastMagic || le.Uint32(b[slotBytes-4:]) != crc32.Checksum(b[:slotBytes-4], castagnoli()) || at <= turn {
			continue
		}
		turn = at
		for i := range l {
			l[i] = le.Uint64(b[16+8*i:])
		}
	}
	return l, turn, nil
}

// LastFile is a file that has a Last. It has one user at a time.
type LastFile struct {
	path string
	file *os.File // nil: it is to be made
	turn uint64
}

// OpenLast returns the file at path, and its value. It is false if there is no file, or none that is whole: then Set makes one.
// The error is ErrIrregular or one of the file system.
func OpenLast(path string) (f *LastFile, l Last, known bool, err error) {
	f = &LastFile{path: path}
	switch _, err := lstatRegular(path); {
	case errors.Is(err, fs.ErrNotExist):
		return f, l, false, nil
	case err != nil:
		return nil, l, false, fmt.Errorf("open %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, l, false, fmt.Errorf("open %s: %w", path, err)
	}
	if l, f.turn, err = ReadLast(file); err != nil {
		_ = file.Close() // it was only read
		return nil, l, false, fmt.Errorf("read %s: %w", path, err)
	}
	if f.turn == 0 {
		_ = file.Close()
		return f, l, false, nil
	}
	f.file = file
	return f, l, true, nil
}

// Set writes l, and returns when it is on the disk. After an error the file has l or the value before, and the next Set makes a new file.
func (f *LastFile) Set(l Last) error {
	if f.file == nil {
		return f.renew(l)
	}
	b, offset := l.Slot(f.turn + 1)
	_, err := f.file.WriteAt(b, offset)
	if err == nil {
		err = dataSync(f.file)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.turn++
	return nil
}

// renew replaces the file by one with l.
func (f *LastFile) renew(l Last) error {
	dir, base := filepath.Split(f.path)
	dir = filepath.Clean(dir)
	if err := removeLeftovers(dir, base); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	temp, err := createTemp(dir, base)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	b, offset := l.Slot(f.turn + 1)
	if _, err = temp.WriteAt(b, offset); err == nil {
		err = temp.Sync()
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	} else {
		err = syncDir(dir)
	}
	if err != nil {
		_ = temp.Close()
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.file, f.turn = temp, f.turn+1
	return nil
}

// Close releases the file.
func (f *LastFile) Close() {
	if f.file != nil {
		_ = f.file.Close() // what Set has returned for is synced
		f.file = nil
	}
}
