package admission

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// parseState reads head and table of a state of size bytes. It checks everything: the checksum says that these bytes
// were written, but not by whom.
func parseState(content io.ReaderAt, size int64) (*State, error) {
	if size < stateHeadBytes+stateTailBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrState, size)
	}
	var head [stateHeadBytes]byte
	if _, err := content.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if v := binary.LittleEndian.Uint32(head[:]); v != stateVersion {
		return nil, fmt.Errorf("%w: version %d: must be %d", ErrState, v, stateVersion)
	}
	var tail [stateTailBytes]byte
	if _, err := content.ReadAt(tail[:], size-stateTailBytes); err != nil {
		return nil, err
	}
	at, end := binary.LittleEndian.Uint64(tail[4:]), uint64(size-stateTailBytes)
	if at < stateHeadBytes || at > end || end-at > maxTableBytes {
		return nil, fmt.Errorf("%w: table at %d of %d bytes", ErrState, at, size)
	}
	table := make([]byte, end-at)
	if _, err := content.ReadAt(table, int64(at)); err != nil {
		return nil, err
	}
	sections, err := parseTable(table, binary.LittleEndian.Uint32(tail[:]), at)
	if err != nil {
		return nil, err
	}
	return &State{
		content: content, sections: sections,
		seed:  binary.LittleEndian.Uint64(head[4:]),
		saved: time.Unix(0, int64(binary.LittleEndian.Uint64(head[12:]))),
	}, nil
}

// parseTable reads n sections, all of which end before the table at limit.
func parseTable(table []byte, n uint32, limit uint64) (map[string]span, error) {
	sections := map[string]span{}
	for range n {
		if len(table) < 1 || len(table) < 1+int(table[0])+16 {
			return nil, fmt.Errorf("%w: table too short for %d sections", ErrState, n)
		}
		name, rest := string(table[1:1+table[0]]), table[1+int(table[0]):]
		offset, length := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		if offset < stateHeadBytes || offset > limit || length > limit-offset {
			return nil, fmt.Errorf("%w: section %q at %d, %d bytes long", ErrState, name, offset, length)
		}
		sections[name] = span{int64(offset), int64(length)}
		table = rest[16:]
	}
	return sections, nil
}
