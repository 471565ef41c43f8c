package bloom

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// stateWords is how many words are read and written in one go: 32 KiB.
const stateWords = 4096

// SaveState writes the generations of r to w, and before them what LoadState
// needs to tell whether they are those of a filter of this layout and these
// options: in all 128 bytes, 24 for each generation and its words, in pieces of
// at most 32 KiB. now is the time of the save; starts are written as it sees
// them, so that setting the clock does not move them.
//
// It runs beside everything and holds up neither sightings nor rotations. A
// sighting recorded meanwhile may be in the state, or not, or in part, which is
// as good as not. A generation that is forgotten before all of it was read is
// marked as not whole, and loaded as an empty one: after its last word it is
// looked for in the window, and since Rotate takes it from there before it
// clears the first word, what was read of one still held is whole. The state
// then lacks the oldest generation, as the window itself did in the middle of
// that rotation.
//
// The error is that of w. A state is of use only with its last byte, so w ought
// to be a file that gets its name afterwards.
func SaveState[T Storable, V any](w io.Writer, l Layout, o Options, r *Ring[T, V], now time.Time) error {
	s := &stateWriter{to: w}
	window := r.window.Load()
	// While one is cleared the window is one short. Another is written in its
	// place, under the serial number that is held no longer.
	place := func(age int) int { return min(age, len(window.held)-1) }
	capacities := make([]int64, o.Generations)
	for age := range capacities {
		capacities[age] = window.held[place(age)].Capacity()
	}
	header := newStateHeader(l, o, capacities)
	s.write(header.append(nil))
	for age := o.Generations - 1; age >= 0; age-- {
		at := place(age)
		began := now.Add(-max(now.Sub(window.starts[at]), 0))
		saveGeneration(s, r, window.held[at], window.newest-uint64(age), began)
	}
	s.write(binary.LittleEndian.AppendUint32(nil, s.sum))
	if s.err != nil {
		return fmt.Errorf("save a sliding filter: %w", s.err)
	}
	return nil
}

// saveGeneration writes the generation g, and at the end whether r still holds it
// under this serial number: one that was forgotten never comes back under it, so
// nothing of what was read had been cleared.
func saveGeneration[T Storable, V any](s *stateWriter, r *Ring[T, V], g T, serial uint64, began time.Time) {
	s.writeWords([]uint64{uint64(began.UnixNano())})
	piece := make([]uint64, min(stateWords, g.Words()))
	for from := 0; from < g.Words(); from += len(piece) {
		piece = piece[:min(len(piece), g.Words()-from)]
		g.ReadWords(from, piece)
		s.writeWords(piece)
	}
	keys, whole := uint64(g.Keys()), uint64(0)
	if oldest, _ := r.Serials(); oldest <= serial {
		whole = 1
	}
	s.writeWords([]uint64{keys, whole})
}

// stateWriter sums up what it writes, and keeps the first error.
type stateWriter struct {
	to    io.Writer
	sum   uint32
	err   error
	bytes []byte // scratch of writeWords
}

func (s *stateWriter) write(b []byte) {
	s.sum = crc32.Update(s.sum, castagnoli(), b)
	if s.err == nil {
		_, s.err = s.to.Write(b)
	}
}

func (s *stateWriter) writeWords(words []uint64) {
	s.bytes = s.bytes[:0]
	for _, w := range words {
		s.bytes = binary.LittleEndian.AppendUint64(s.bytes, w)
	}
	s.write(s.bytes)
}

// castagnoli returns the table of CRC-32C, which package crc32 makes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
