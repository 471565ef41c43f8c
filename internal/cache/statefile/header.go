package statefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Errors of Open and ReadJournal, besides those of the file system. A missing file is
// fs.ErrNotExist.
var (
	// ErrForeign: the file does not begin like one of Write.
	ErrForeign = errors.New("not a state file")

	// ErrTorn: the file begins like one of Write, but was truncated, extended or changed.
	ErrTorn = errors.New("torn state file")

	// ErrIrregular: the path names a link, a directory, a device or the like.
	// A link is refused and not followed: any user who may write to the directory
	// could point it at any file of the writer's user.
	ErrIrregular = errors.New("not a regular file")

	// ErrTooLarge: the content is larger than MaxBytes.
	ErrTooLarge = errors.New("state too large")
)

// VersionError is a file of another version of the format, most likely of a
// newer program.
type VersionError struct {
	Got, Want uint32
}

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("state file of version %d: must be version %d", e.Got, e.Want)
}

// MaxBytes bounds the content of one file, so that a wrong path is refused and not
// read for hours.
const MaxBytes = 64 << 30

const (
	magic   = "edge\x00st\x1a" // a NUL and an end-of-file mark: no text begins so
	version = 1

	// headerBytes is the length of the header, little endian:
	// magic [8] version [4] checksum of the content [4] its length [8]
	// checksum of all these [4].
	headerBytes = 28
)

// castagnoli returns the table of CRC-32C, for which processors have an instruction.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// header describes the content that follows it.
type header struct {
	sum    uint32 // CRC-32C of the content
	length uint64
}

func (h header) encode() []byte {
	b := make([]byte, 0, headerBytes)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, h.sum)
	b = binary.LittleEndian.AppendUint64(b, h.length)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// decodeHeader decodes the header of a file that begins with b. b is only shorter than a
// header if the file is.
func decodeHeader(b []byte) (header, error) {
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return header{}, ErrForeign
	}
	if len(b) < headerBytes {
		return header{}, ErrTorn
	}
	// Before the checksum: another version may have another header.
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return header{}, &VersionError{Got: v, Want: version}
	}
	if binary.LittleEndian.Uint32(b[24:]) != crc32.Checksum(b[:24], castagnoli()) {
		return header{}, ErrTorn
	}
	return header{sum: binary.LittleEndian.Uint32(b[12:]), length: binary.LittleEndian.Uint64(b[16:])}, nil
}
