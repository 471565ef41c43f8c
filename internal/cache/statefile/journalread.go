package statefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// ReadJournal calls each with every record of the journal at path, in order. A record is
// only valid during the call. It returns how many bytes at the end it left out: an unfinished
// record, whose Append never returned because of a kill or a loss of power.
//
// Errors: fs.ErrNotExist, ErrForeign, ErrIrregular, a *VersionError, a *DamageError, also for a
// record that each refuses, or another one of the file system.
func ReadJournal(path string, format Format, each func(record []byte) error) (torn int64, err error) {
	named, err := lstatRegular(path)
	if err != nil {
		return 0, fmt.Errorf("read journal %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	if !os.SameFile(info, named) {
		return 0, fmt.Errorf("read journal %s: %w: replaced while it was opened", path, ErrIrregular)
	}
	r := &journalReader{path: path, r: bufio.NewReaderSize(f, bufferBytes), size: info.Size()}
	if err := r.begin(format); err != nil {
		return 0, err
	}
	for r.at < r.size {
		record, err := r.next()
		switch {
		case errors.Is(err, errTail):
			return r.size - r.at, nil
		case err != nil:
			return 0, err
		}
		if err := each(record); err != nil {
			return 0, r.damage(err.Error())
		}
		r.at += recordBytes(len(record))
	}
	return 0, nil
}

// errTail: the rest of the file is an unfinished record.
var errTail = errors.New("an unfinished record")

type journalReader struct {
	path     string
	r        *bufio.Reader
	size, at int64 // length of the file; offset of the next record
	sum      uint32
	record   []byte
}

func (r *journalReader) damage(what string) error {
	return &DamageError{Path: r.path, Offset: r.at, What: what}
}

// begin reads the head of the file. A journal is renamed to its path when it is whole, so its
// head is never unfinished.
func (r *journalReader) begin(format Format) error {
	var head [journalHeadBytes]byte
	n, err := io.ReadFull(r.r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read journal %s: %w", r.path, err)
	}
	if m := min(n, len(format.Magic)); string(head[:m]) != format.Magic[:m] {
		return fmt.Errorf("read journal %s: %w", r.path, ErrForeign)
	}
	if n < journalHeadBytes {
		return r.damage(fmt.Sprintf("the file ends after %d bytes", n))
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != format.Version {
		return fmt.Errorf("read journal %s: %w", r.path, &VersionError{Got: v, Want: format.Version})
	}
	if !bytes.Equal(head[:], format.head()) {
		return r.damage("checksum of the head")
	}
	r.sum = binary.LittleEndian.Uint32(head[journalHeadBytes-4:])
	r.at = journalHeadBytes
	return nil
}

// next returns the next record, or errTail, or a *DamageError. A tail is only what one
// unfinished write can leave at the end of the file: a part of a record, or zeros in place of
// its last part.
func (r *journalReader) next() ([]byte, error) {
	left, table := r.size-r.at, castagnoli()
	if left < recordHeadBytes {
		return nil, errTail
	}
	var head [recordHeadBytes]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", r.path, err)
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if crc32.Update(r.sum, table, head[:8]) != binary.LittleEndian.Uint32(head[8:]) || length == 0 || length > MaxRecordBytes {
		return nil, r.tailOrDamage(head[recordHeadBytes-1], "checksum of the head of a record")
	}
	if recordBytes(int(length)) > left {
		return nil, errTail
	}
	r.record = append(r.record[:0], make([]byte, length+1)...)
	if _, err := io.ReadFull(r.r, r.record); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", r.path, err)
	}
	record, end := r.record[:length], r.record[length]
	sum := crc32.Update(r.sum, table, record)
	if end != recordEnd || sum != binary.LittleEndian.Uint32(head[4:]) {
		return nil, r.tailOrDamage(end, "checksum of a record")
	}
	r.sum = sum
	return record, nil
}

// tailOrDamage returns errTail if last, the last byte that was read, and all bytes behind it are
// zero; otherwise a *DamageError.
func (r *journalReader) tailOrDamage(last byte, what string) error {
	for last == 0 {
		var err error
		if last, err = r.r.ReadByte(); errors.Is(err, io.EOF) {
			return errTail
		} else if err != nil {
			return fmt.Errorf("read journal %s: %w", r.path, err)
		}
	}
	return r.damage(what)
}
