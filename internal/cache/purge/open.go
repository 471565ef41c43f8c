package purge

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"edgeproxy/internal/cache/statefile"
)

const (
	fileName    = "purges"
	lastName    = "purges.last"    // the last number that was confirmed
	damagedName = "purges.damaged" // the last file that could not be read, or had lost its end
)

func format() statefile.Format { return statefile.Format{Magic: "edge\x00pu\x1a", Version: 1} }

// Place says where a Table is stored.
type Place struct {
	// Dir is a directory that exists. The files purges, purges.last, purges.damaged and purges.*.tmp in it belong to the Table, and one
	// process uses them at a time.
	Dir string
	// KeySeed becomes the KeySeed of the Identity if no file has one yet; 0 draws one.
	KeySeed uint64
	// Log gets messages about reading and writing the file; nil drops them.
	Log *slog.Logger
}

// Open returns a Table with the marks of its file, or an empty one with a new History if there is no file. The caller calls
// Close.
//
// A record that a kill left incomplete is truncated: no Keep returned for it. A damaged file is renamed, the log says what
// is wrong and where, and the Table starts empty with a new History, so that nothing stored before counts as unpurged
// (Identity.Knows). A file that ends before the last purge that Keep has returned for is renamed, too. Then all that was stored before that
// purge counts as purged; what was stored since stays.
//
// Errors: statefile.ErrInUse if another process has it; statefile.ErrForeign, a *statefile.VersionError and
// statefile.ErrIrregular for a file that is foreign or of a newer program, which is not changed; and those of the file
// system. Without a Table, nothing stored before may be used.
func Open(p Place, o Options) (*Table, error) {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	release, err := statefile.ClaimDir(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the purges: %w", err)
	}
	t, err := open(p, o)
	if err != nil {
		release()
		return nil, fmt.Errorf("open the purges: %w", err)
	}
	t.file.release = release
	return t, nil
}

func open(p Place, o Options) (*Table, error) {
	f := newFile(filepath.Join(p.Dir, fileName), p.Log)
	last, kept, err := openLast(p)
	if err != nil {
		return nil, err
	}
	f.last = last
	t, err := f.load(p, o, kept)
	if err != nil {
		last.Close()
		return nil, err
	}
	if t == nil || t.identity.Run >= maxRun {
		t = New(o)
		t.identity = Identity{History: random(), KeySeed: p.KeySeed}
		if p.KeySeed == 0 {
			t.identity.KeySeed = random()
		}
	}
	// The journal says that there is a last number, so that is written first.
	err = last.Set(t.identity.last(t.latest.Load()))
	if err == nil {
		t.identity.Run++
		t.latest.Store(max(t.latest.Load(), t.identity.First()))
		t.file = f
		err = f.replace(t.snapshotLocked()) // nobody else has t
	}
	if err != nil {
		last.Close()
		return nil, err
	}
	return t, nil
}

// load returns the table in the file, as far as it may be used: nil if there is none. What the file may have lost of the purges that were
// confirmed is purged in the table.
func (f *file) load(p Place, o Options, kept lastKept) (*Table, error) {
	t, e, err := f.read(o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Log.Info("no saved purges found: responses that were stored before are not used", "file", f.path)
		return nil, nil
	case errors.Is(err, statefile.ErrTorn):
		p.Log.Error("the saved purges are damaged: responses that were stored before are not used", "error", err, "renamed_to", damagedName)
		return nil, setAside(p)
	case err != nil:
		return nil, err
	}
	switch upTo, lost := kept.lost(t, e); {
	case lost && kept.known:
		p.Log.Error("the saved purges end before the last one that was confirmed: all that was stored before that one counts as purged",
			"file", f.path, "bytes", e.bytes, "last_read", t.latest.Load(), "last_confirmed", upTo, "renamed_to", damagedName)
		t.purgeUpTo(upTo)
		return t, setAside(p)
	case lost:
		p.Log.Error("the number of the last confirmed purge is lost or damaged: all that was stored before counts as purged", "file", filepath.Join(p.Dir, lastName))
		t.purgeUpTo(upTo)
	case e.torn > 0:
		p.Log.Warn("the saved purges end with an incomplete record, which is removed: its purge was not confirmed to the client", "file", f.path, "bytes", e.torn)
	}
	return t, nil
}

// purgeUpTo purges what was born before a generation. Nobody else has t.
func (t *Table) purgeUpTo(generation uint64) {
	t.apply(change{kind: changeAll, mark: mark{hard: generation}})
	t.latest.Store(max(t.latest.Load(), generation))
}

// setAside keeps the file under another name, for an operator to look at.
func setAside(p Place) error {
	return os.Rename(filepath.Join(p.Dir, fileName), filepath.Join(p.Dir, damagedName))
}

// extent says how much of the file was read.
type extent struct {
	head
	follow      uint64 // records behind the head
	bytes, torn int64  // length of the file; bytes at its end that are no record
}

// read returns the table in the file.
func (f *file) read(o Options) (t *Table, e extent, err error) {
	e.torn, err = statefile.ReadJournal(f.path, format(), func(record []byte) (err error) {
		if t == nil {
			t, e.head, err = restored(record, o)
			return err
		}
		e.follow++
		return t.replay(record)
	})
	if err == nil && t == nil {
		err = &statefile.DamageError{Path: f.path, What: "it has no records"}
	}
	if err != nil {
		return nil, e, err
	}
	if info, err := os.Stat(f.path); err == nil {
		e.bytes = info.Size()
	}
	return t, e, nil
}

// restored returns an empty table with the head of a file.
func restored(record []byte, o Options) (*Table, head, error) {
	h, ok := parseHead(record)
	if !ok {
		return nil, h, errChange
	}
	t := New(o)
	t.identity, t.seed = h.Identity, h.seed
	t.latest.Store(h.latest)
	t.settled.Store(h.settled)
	return t, h, nil
}

// replay applies the changes of a record.
func (t *Table) replay(record []byte) error {
	for len(record) > 0 {
		c, rest, err := nextChange(record)
		if err != nil {
			return err
		}
		t.apply(c)
		t.latest.Store(max(t.latest.Load(), c.newest()))
		record = rest
	}
	return nil
}
