package purge

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"edgeproxy/internal/statefile"
)

const (
	fileName    = "purges"
	damagedName = "purges.damaged" // the last file that could not be read
)

func format() statefile.Format { return statefile.Format{Magic: "edge\x00pu\x1a", Version: 1} }

// Place says where a Table is stored.
type Place struct {
	// Dir is a directory that exists. The files purges, purges.damaged and purges.*.tmp in it belong to the Table, and one
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
// (Identity.Knows).
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
	path := filepath.Join(p.Dir, fileName)
	t, err := load(path, o, p.Log)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Log.Info("no saved purges found: responses that were stored before are not used", "file", path)
		t = nil
	case errors.Is(err, statefile.ErrTorn):
		p.Log.Error("the saved purges are damaged: responses that were stored before are not used", "error", err, "renamed_to", damagedName)
		if err := os.Rename(path, filepath.Join(p.Dir, damagedName)); err != nil {
			return nil, err
		}
		t = nil
	case err != nil:
		return nil, err
	}
	if t == nil || t.identity.Run >= maxRun {
		t = New(o)
		t.identity = Identity{History: random(), KeySeed: p.KeySeed}
		if p.KeySeed == 0 {
			t.identity.KeySeed = random()
		}
	}
	t.identity.Run++
	t.latest.Store(max(t.latest.Load(), t.identity.First()))
	t.file = newFile(path, p.Log)
	if err := t.file.replace(t.snapshotLocked()); err != nil { // nobody else has t
		return nil, err
	}
	return t, nil
}

// load returns the table in the file at path.
func load(path string, o Options, log *slog.Logger) (*Table, error) {
	var t *Table
	torn, err := statefile.ReadJournal(path, format(), func(record []byte) (err error) {
		if t == nil {
			t, err = restored(record, o)
			return err
		}
		return t.replay(record)
	})
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, &statefile.DamageError{Path: path, What: "it has no records"}
	case torn > 0:
		log.Warn("the saved purges end with an incomplete record, which is removed: its purge was not confirmed to the client", "file", path, "bytes", torn)
	}
	return t, nil
}

// restored returns an empty table with the head of a file.
func restored(record []byte, o Options) (*Table, error) {
	h, ok := parseHead(record)
	if !ok {
		return nil, errChange
	}
	t := New(o)
	t.identity, t.seed = h.Identity, h.seed
	t.latest.Store(h.latest)
	t.settled.Store(h.settled)
	return t, nil
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
