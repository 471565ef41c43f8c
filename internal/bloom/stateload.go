package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// LoadState reads what SaveState wrote and returns the generations, newest
// first, and when each began, as NewRing wants them. build is to return the
// generations to load into, empty, of the layout and the options, which are
// valid, and of the capacities it is given, newest first; it is called once the header
// has shown that the state is theirs, so nothing is made for a state that is not. Unless
// the options are Resizable the capacities are theirs. All of the state is read and held against its checksum before anything is
// returned. It reads no byte beyond.
//
// Starts are what they were: the time since is part of the window's age, and
// rotating what is due is up to the caller. One in the future, as after the
// clock was set back, becomes now. A generation that the state lacks is empty
// and begins with the one after it.
//
// The error is a *StateError where the state is another filter's or another
// version's. In its chain is ErrChecksum where the state is damaged, io.EOF
// where it is empty, io.ErrUnexpectedEOF where it is cut short, or what r failed
// with.
func LoadState[T Storable](r io.Reader, l Layout, o Options, now time.Time, build func(capacities []int64) []T) ([]T, []time.Time, error) {
	held, starts, err := loadState(r, l, o, now, build)
	if err != nil {
		return nil, nil, fmt.Errorf("load a sliding filter: %w", err)
	}
	return held, starts, nil
}

func loadState[T Storable](r io.Reader, l Layout, o Options, now time.Time, build func(capacities []int64) []T) ([]T, []time.Time, error) {
	s := &stateReader{from: r, bytes: make([]byte, stateHeaderBytes+4, stateWords*8)}
	if err := s.fill(); err != nil {
		return nil, nil, err
	}
	capacities, err := capacitiesIn(s.bytes, l, o)
	if err != nil {
		return nil, nil, err
	}
	held := build(capacities)
	saved := make([]savedGeneration, len(held))
	for i := len(held) - 1; i >= 0; i-- { // the oldest comes first
		var err error
		if saved[i], err = loadGeneration(s, held[i]); err != nil {
			return nil, nil, fmt.Errorf("generation %d: %w", i, err)
		}
	}
	sum := s.sum
	s.bytes = s.bytes[:4]
	if err := s.fill(); err != nil {
		return nil, nil, short(err)
	}
	if binary.LittleEndian.Uint32(s.bytes) != sum {
		return nil, nil, ErrChecksum
	}
	starts, err := settle(held, saved, now)
	return held, starts, err
}

// savedGeneration is what the state says of a generation besides its words.
type savedGeneration struct {
	start time.Time
	keys  int64
	whole bool
}

// loadGeneration reads one generation, the words into g. Nothing of it is to be
// believed before the checksum.
func loadGeneration[T Storable](s *stateReader, g T) (savedGeneration, error) {
	var head [1]uint64
	if err := s.words(head[:]); err != nil {
		return savedGeneration{}, err
	}
	piece := make([]uint64, min(stateWords, g.Words()))
	for from := 0; from < g.Words(); from += len(piece) {
		piece = piece[:min(len(piece), g.Words()-from)]
		if err := s.words(piece); err != nil {
			return savedGeneration{}, err
		}
		g.WriteWords(from, piece)
	}
	var tail [2]uint64
	err := s.words(tail[:])
	return savedGeneration{time.Unix(0, int64(head[0])), int64(tail[0]), tail[1] == 1}, err
}

// settle makes the generations, whose words are read, what the rest says of
// them, and returns their starts.
func settle[T Storable](held []T, saved []savedGeneration, now time.Time) ([]time.Time, error) {
	starts := make([]time.Time, len(held))
	next := now // no generation begins after the one that follows it
	for i, g := range saved {
		switch {
		case g.keys < 0:
			return nil, &StateError{What: "keys", Got: g.keys, Want: "0 or more"}
		case !g.whole:
			held[i].Clear()
		default:
			held[i].SetKeys(g.keys)
			if g.start.Before(next) {
				next = g.start
			}
		}
		starts[i] = next
	}
	return starts, nil
}

// stateReader sums up what it reads.
type stateReader struct {
	from  io.Reader
	sum   uint32
	bytes []byte // what was read last; never grown beyond one piece
}

// fill reads as many bytes as s.bytes is long.
func (s *stateReader) fill() error {
	if _, err := io.ReadFull(s.from, s.bytes); err != nil {
		return err
	}
	s.sum = crc32.Update(s.sum, castagnoli(), s.bytes)
	return nil
}

// words reads so many words; where there are none, the state was cut short.
func (s *stateReader) words(out []uint64) error {
	s.bytes = s.bytes[:8*len(out)]
	if err := s.fill(); err != nil {
		return short(err)
	}
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(s.bytes[8*i:])
	}
	return nil
}

// short makes an end where more was to come an unexpected one.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
