package admission

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/cache/statefile"
)

// ErrState says that a state file is intact but not valid for this program.
var ErrState = errors.New("not a state of admission")

// ErrNoSightings says that a state has no filter: no policy remembered any.
var ErrNoSightings = errors.New("no sightings in the state")

// A state is, little endian:
//
//	version [4] seed [8] time of saving, Unix nanoseconds [8]
//	the sections, one after the other, as their filters write them
//	the table: for each section length of name [1] name offset [8] length [8]
//	number of sections [4] offset of the table [8]
//
// Offsets count from the beginning. The table is last, since a filter says how
// long it is by writing itself.
const (
	// stateVersion also covers the key hash: raise it when either changes.
	stateVersion = 1

	stateHeadBytes = 20
	stateTailBytes = 12
	maxTableBytes  = 4 << 10 // some hundred sections; there are six
)

// fitSection has what is known of the sizes of responses, so that the windows suit the cache right after the next
// start.
const fitSection = "fit"

// Suffixes of the sections, and names, of the filters of a regret.
const (
	heldBackSuffix = "/held-back"
	storedSuffix   = "/stored"

	sightingsSuffix = "/sightings" // sightings of the newest generation; of Fitted filters
)

// State is a saved state of a Gate, verified but not decoded. It holds the file open until Close, or until it is given
// to New. It is not safe for concurrent use. A nil *State is empty.
type State struct {
	file     io.Closer
	content  io.ReaderAt
	seed     uint64
	saved    time.Time
	sections map[string]span
	problems []error
}

type span struct{ offset, length int64 }

// LoadState reads what a Gate saved at path. Now is the clock's time. An error that is fs.ErrNotExist says that nothing
// was saved yet; any other error says why the file cannot be used (see statefile.Open, and ErrState). A gate may then
// be built without it.
func LoadState(path string, now time.Time) (*State, error) {
	f, err := statefile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load the sightings: %w", err)
	}
	st, err := parseState(f, f.Size())
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("load the sightings from %s: %w", path, err)
	}
	st.file = f
	if f.Exposed() {
		st.fault("%s was open to others than its owner, and holds the seed of the key hash; the next save makes it private", path)
	}
	if st.saved.After(now) {
		st.fault("%s was saved at %v, after the present time; the age of its sightings is unknown", path, st.saved)
	}
	return st, nil
}

// CopyState makes a file at path of what WriteState wrote, which it reads from r, and returns its content. A file that is there already is replaced
// once all has come and is a state, and not before. The error is that of r, of the file system, ErrState or ErrNoSightings.
func CopyState(path string, r io.Reader, now time.Time) (*State, error) {
	fetched := path + ".fetched"
	if err := statefile.Write(fetched, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}); err != nil {
		return nil, err
	}
	st, err := LoadState(fetched, now)
	if err == nil && st.section(SecondHitFilter) == nil && st.section(CountingFilter) == nil {
		err = ErrNoSightings
	}
	if err == nil {
		err = os.Rename(fetched, path)
	}
	if err != nil {
		st.Close()
		_ = os.Remove(fetched) // the error is what matters
		return nil, err
	}
	return st, nil
}

// Saved returns when the sightings were saved.
func (st *State) Saved() time.Time { return st.saved }

// Size returns the length of the content in bytes.
func (st *State) Size() (bytes int64) {
	for _, s := range st.sections {
		bytes += s.length
	}
	return bytes
}

// Seed returns the seed of the key hash that the sightings were recorded under.
func (st *State) Seed() uint64 { return st.seed }

// Close releases the file. New does so itself.
func (st *State) Close() {
	if st != nil && st.file != nil {
		_ = st.file.Close() // only read
		st.file = nil
	}
}

// section returns the bytes saved under name, or nil if there are none.
func (st *State) section(name string) io.Reader {
	if st == nil {
		return nil
	}
	s, ok := st.sections[name]
	if !ok {
		return nil
	}
	return io.NewSectionReader(st.content, s.offset, s.length)
}

// fit returns what is known of the sizes of responses, for a tier of so many bytes.
func (st *State) fit(bytes int64, held fit.Held) *fit.Fit {
	f := fit.New(bytes, held)
	section := st.section(fitSection)
	if section == nil {
		return f
	}
	b, err := io.ReadAll(section)
	if err == nil {
		err = f.UnmarshalBinary(b)
	}
	if err != nil {
		st.fault("the sizes of responses are learnt anew: %w", err)
	}
	return f
}

// sightings returns how many sightings the newest generation of a filter, begun then, had when the filter was saved:
// none if it began later.
func (st *State) sightings(filter string, began time.Time) int64 {
	section := st.section(filter + sightingsSuffix)
	if section == nil || began.After(st.saved) {
		return 0
	}
	var n [8]byte
	if _, err := io.ReadFull(section, n[:]); err != nil {
		st.fault("the newest generation of the %s filter is longer than it should be: %w", filter, err)
		return 0
	}
	return int64(min(binary.LittleEndian.Uint64(n[:]), math.MaxInt64/2))
}

// requireSeed empties the state unless it was saved under seed.
func (st *State) requireSeed(seed uint64) {
	if st != nil && st.seed != seed {
		st.sections = nil
		st.fault("sightings saved under another seed of the key hash: all filters begin anew")
	}
}

// fault records a problem.
func (st *State) fault(format string, args ...any) {
	st.problems = append(st.problems, fmt.Errorf(format, args...))
}

// faults returns the problems so far.
func (st *State) faults() []error {
	if st == nil {
		return nil
	}
	return st.problems
}
