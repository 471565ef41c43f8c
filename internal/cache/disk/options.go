package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"runtime"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// Options configure Open. None may be below 0. In those that name a default, 0 means that default.
type Options struct {
	// Path is the directory. Open creates it if it is missing. It has one user at a time.
	Path string
	// MaxBytes bounds the size of the directory, in bytes: at least MinBytes.
	MaxBytes int64
	// MaxObjectBytes bounds a record's body: by default 1 GiB. More than an eighth of MaxBytes means an eighth.
	MaxObjectBytes int64
	// MinFree is how many bytes of the file system stay free. If there are fewer, records are evicted. 0: the file system may become full.
	MinFree int64
	// WriteRate bounds the average write rate, in bytes a second; 0: no bound.
	WriteRate int64
	// MeanObjectBytes is the expected length of a record: the index begins with room for MaxBytes of such records, and grows to eight times
	// that. By default 32 KiB.
	MeanObjectBytes int64
	// QueueBytes bounds the bytes in memory that wait to be written: 32 MiB by default. One record may always wait.
	QueueBytes int64
	// SweepRate is how many bytes a second Each reads at most: 64 MiB by default.
	SweepRate int64
	// ScrubRate is how many bytes a second are read to find damage before anybody asks for it: 1 MiB by default.
	ScrubRate int64
	// Reads bounds how many reads wait for the device at once: 4 a processor by default, and at least 16.
	Reads int
	// ReadWait is how long a read waits for its turn before it is given up: 20 ms by default.
	ReadWait time.Duration
	// ReadDeadline is how long a read waits for the device before it is given up, and Commit for the writer: 1 s by default.
	ReadDeadline time.Duration
	// Deadline is how long one call of the writer may take before the directory counts as failed, and how long Close waits: 10 s by default. No
	// value turns off one of the three.
	Deadline time.Duration
	// Fold returns block with p applied, in memory of its own, when a record is rewritten; nil: without changes. Without Fold a Patch is lost
	// then. It runs in the writer's goroutine.
	Fold func(block []byte, p Patch) []byte
	// Log gets messages for an operator. Nil: they are dropped.
	Log *slog.Logger
	// Hook is called before each system call: for tests.
	Hook device.Hook
	// Now reads the clock; the default is the system's: for tests.
	Now func() time.Time

	// Home says that the directory also has the state that belongs to the caller's records, such as their purges. Of several directories that
	// could be the home of a group, this one is.
	Home bool

	// drop says that the directory is emptied before it is first opened.
	drop bool
	// seed is the seed that the directory must have, and gets if it is new; 0: any.
	seed uint64
	// every is the interval of the checks of the writer and the watch, and between two tries to open a directory that has failed: a second.
	every time.Duration
	// scrubAfter is how long a scrub waits after a start, or after the previous scrub.
	scrubAfter time.Duration
}

const scrubAfter = 10 * time.Minute

// MinBytes is the least MaxBytes.
const MinBytes = 16 * layout.MinSegment

// segmentsWanted is the least number of segments of a new directory, unless they would be shorter than MinSegment; segmentsToWork is how many an
// old one needs.
const (
	segmentsWanted = 128
	segmentsToWork = 6
)

// ErrOptions says that an option is out of range.
var ErrOptions = errors.New("disk: option out of range")

// filled returns o with its defaults, or an error that names the options out of range.
func (o Options) filled() (Options, error) {
	if o.MaxBytes < MinBytes {
		return o, fmt.Errorf("%w: MaxBytes %d: must be at least %d", ErrOptions, o.MaxBytes, MinBytes)
	}
	for name, n := range map[string]int64{
		"MaxObjectBytes": o.MaxObjectBytes, "MinFree": o.MinFree, "WriteRate": o.WriteRate, "MeanObjectBytes": o.MeanObjectBytes,
		"QueueBytes": o.QueueBytes, "SweepRate": o.SweepRate, "ScrubRate": o.ScrubRate, "Reads": int64(o.Reads), "ReadWait": int64(o.ReadWait), "ReadDeadline": int64(o.ReadDeadline), "Deadline": int64(o.Deadline),
	} {
		if n < 0 {
			return o, fmt.Errorf("%w: %s %d: must be none below 0", ErrOptions, name, n)
		}
	}
	o.MaxObjectBytes = min(or(o.MaxObjectBytes, 1<<30), o.MaxBytes/8)
	o.MeanObjectBytes = or(o.MeanObjectBytes, 32<<10)
	o.QueueBytes = or(o.QueueBytes, 32<<20)
	o.ScrubRate = or(o.ScrubRate, 1<<20)
	o.scrubAfter = or(o.scrubAfter, scrubAfter)
	o.SweepRate = or(o.SweepRate, 64<<20)
	o.Reads = or(o.Reads, max(16, 4*runtime.GOMAXPROCS(0)))
	o.ReadWait = or(o.ReadWait, 20*time.Millisecond)
	o.ReadDeadline = or(o.ReadDeadline, time.Second)
	o.every = or(o.every, time.Second)
	o.Deadline = or(o.Deadline, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = clock
	}
	return o, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// segmentBytes returns the length of the segments of a new directory: a power of two.
func (o Options) segmentBytes() int64 {
	n := uint64(max(o.MaxBytes/segmentsWanted, layout.MinSegment)) //nolint:gosec // above 0
	return min(int64(1)<<(bits.Len64(n)-1), layout.MaxSegment)
}

// patches returns how many records may have a Patch at once.
func (o Options) patches() int { return min(max(o.objects()/16, 1024), 1<<18) }

// objects returns how many objects the index begins with room for.
func (o Options) objects() int { return int(max(o.MaxBytes/o.MeanObjectBytes, 1024)) }

// clock reads the time.
func clock() time.Time { return time.Now() }
