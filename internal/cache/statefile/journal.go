package statefile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// Format identifies the journals of one use. Both fields are at the beginning of the file.
type Format struct {
	Magic   string // 8 bytes, of which one is no text
	Version uint32
}

// MaxRecordBytes bounds one record of a journal.
const MaxRecordBytes = 1 << 20

const (
	// journalHeadBytes is the length of the head of a journal, little endian:
	// magic [8] version [4] checksum of both [4].
	journalHeadBytes = 16
	// recordHeadBytes is the length of the head of a record: length of the content [4]
	// checksum of the content [4] checksum of these two [4]. Both checksums continue that
	// of the record before, so records are only valid in their order.
	recordHeadBytes = 12
	// recordEnd follows the content of a record, and is not 0: a file system that extended
	// the file but lost what was written leaves zeros.
	recordEnd = 0xA5
)

// DamageError says that a journal is damaged, and where. Records before that place may have
// been read.
type DamageError struct {
	Path   string
	Offset int64
	What   string
}

// Error names file, place and kind of the damage.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %s is damaged at byte %d: %s", e.Path, e.Offset, e.What)
}

// Is makes it an ErrTorn.
func (e *DamageError) Is(target error) bool { return target == ErrTorn }

// Journal is a file that records are added to. It has one user at a time.
type Journal struct {
	path string
	file *os.File
	size int64
	sum  uint32 // checksum of the last record
	err  error  // error of the first Append that failed
}

// WriteJournal replaces the file at path by a journal of the records that write adds. On an
// error it leaves the file unchanged. Its steps are those of Write. It returns the journal
// for Append; the caller closes it.
func WriteJournal(path string, format Format, write func(add func(record []byte) error) error) (*Journal, error) {
	j, err := replaceJournal(path, format, write)
	if err != nil {
		return nil, fmt.Errorf("write journal %s: %w", path, err)
	}
	return j, nil
}

func replaceJournal(path string, format Format, write func(add func(record []byte) error) error) (*Journal, error) {
	if _, err := lstatRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if err := removeLeftovers(dir, base); err != nil {
		return nil, err
	}
	temp, err := createTemp(dir, base)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, file: temp}
	if err = j.begin(format, write); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		_ = temp.Close()
		return nil, err
	}
	if err := syncDir(dir); err != nil { // it may be the old one after a loss of power
		_ = temp.Close()
		return nil, err
	}
	return j, nil
}

// begin writes the head and the first records, and syncs them.
func (j *Journal) begin(format Format, write func(add func(record []byte) error) error) error {
	w := bufio.NewWriterSize(j.file, bufferBytes)
	head := format.head()
	j.size = journalHeadBytes
	j.sum = binary.LittleEndian.Uint32(head[journalHeadBytes-4:])
	if _, err := w.Write(head); err != nil {
		return err
	}
	var b []byte
	err := write(func(record []byte) (err error) {
		if b, err = j.frame(b[:0], record); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return j.file.Sync()
}

// frame appends record to b in the format of the file.
func (j *Journal) frame(b, record []byte) ([]byte, error) {
	if len(record) == 0 || len(record) > MaxRecordBytes {
		return nil, fmt.Errorf("%w: a record of %d bytes: must be 1 to %d", ErrTooLarge, len(record), MaxRecordBytes)
	}
	table := castagnoli()
	var head [recordHeadBytes]byte
	sum := crc32.Update(j.sum, table, record)
	binary.LittleEndian.PutUint32(head[:], uint32(len(record)))
	binary.LittleEndian.PutUint32(head[4:], sum)
	binary.LittleEndian.PutUint32(head[8:], crc32.Update(j.sum, table, head[:8]))
	j.sum = sum
	j.size += recordBytes(len(record))
	return append(append(append(b, head[:]...), record...), recordEnd), nil
}

// Append adds a record and syncs it. After an error the end of the file is unknown: further
// calls fail, and the caller has to write a new journal.
func (j *Journal) Append(record []byte) error {
	if j.err != nil {
		return j.err
	}
	b, err := j.frame(nil, record)
	if err == nil {
		_, err = j.file.Write(b)
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.err = fmt.Errorf("add to journal %s: %w", j.path, err)
	}
	return j.err
}

// Size returns the length of the file in bytes.
func (j *Journal) Size() int64 { return j.size }

// Close releases the file.
func (j *Journal) Close() error { return j.file.Close() }

// recordBytes is the length in the file of a record with so many bytes.
func recordBytes(content int) int64 { return recordHeadBytes + int64(content) + 1 }

func (f Format) head() []byte {
	b := make([]byte, 0, journalHeadBytes)
	b = append(b, f.Magic...)
	b = binary.LittleEndian.AppendUint32(b, f.Version)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}
