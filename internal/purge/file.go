package purge

import (
	"fmt"
	"log/slog"

	"edgeproxy/internal/statefile"
)

const (
	// maxText bounds the text of a prefix in the file. The rest of a longer one is left out
	// there, so after a restart it reaches more.
	maxText = 64 << 10
	// maxPending bounds the purges that wait for Keep, in bytes. With more, Keep writes the
	// whole table in their place.
	maxPending = 256 << 10
	// The file may have growth times the size of the table when it was last written whole, and minGrowth
	// more; then it is written anew.
	growth, minGrowth = 2, 1 << 20

	snapshotRecord = 64 << 10 // of the table, in bytes
)

// NotKeptError says that purges are in force and that the next start may not know of them.
type NotKeptError struct{ err error }

// Error says so, and why.
func (e *NotKeptError) Error() string {
	return "purged, but what was purged may come back after a restart: " + e.err.Error()
}

// Unwrap returns the error of the file.
func (e *NotKeptError) Unwrap() error { return e.err }

// Purged says that the purge was done, unlike with other errors.
func (e *NotKeptError) Purged() bool { return true }

// file is where a Table is kept. A nil *file keeps nothing.
type file struct {
	path    string
	log     *slog.Logger
	release func()

	// writing has a token while somebody has the two fields below.
	writing chan struct{}
	journal *statefile.Journal
	limit   int64 // of its size

	// guarded by Table.mu
	pending []byte // changes that are not in the journal yet
	whole   bool   // write the whole table in their place
	noted   uint64 // changes so far
	kept    uint64 // those of them that are on the disk
	failing bool   // the last write failed
}

func newFile(path string, log *slog.Logger) *file {
	return &file{path: path, log: log, writing: make(chan struct{}, 1)}
}

// noteLocked takes in what the next Keep will write.
func (f *file) noteLocked(c change) {
	if f == nil {
		return
	}
	f.noted++
	if f.whole {
		return
	}
	c.text = c.text[:min(len(c.text), maxText)]
	f.pending = c.appendTo(f.pending)
	if len(f.pending) > maxPending {
		f.pending, f.whole = nil, true
	}
}

// settledLocked has the next Keep write the table without the marks that went. Until then the file
// has them still, which purges nothing anew: what they had reached is gone.
func (f *file) settledLocked() {
	if f != nil {
		f.pending, f.whole = nil, true
	}
}

// Keeps reports whether the table is kept in a file.
func (t *Table) Keeps() bool { return t.file != nil }

// Identity returns what is known by this table; it does not change.
func (t *Table) Identity() Identity { return t.identity }

// Keep returns when all purges that were made before the call will be known after a restart, also if
// the process is killed or the power goes. Purges that come at the same time are written
// together. The error is a *NotKeptError; all purges are in force all the same, and the next
// Keep tries again for all of them. Without a file it does nothing.
func (t *Table) Keep() error {
	f := t.file
	if f == nil {
		return nil
	}
	t.mu.Lock()
	want := f.noted
	t.mu.Unlock()
	f.writing <- struct{}{}
	defer func() { <-f.writing }()

	t.mu.Lock()
	if f.kept >= want {
		t.mu.Unlock()
		return nil
	}
	noted, batch := f.noted, f.pending
	var table [][]byte
	if f.whole || f.journal.Size()+int64(len(batch)) > f.limit {
		table = t.snapshotLocked()
	}
	f.pending, f.whole = nil, false
	t.mu.Unlock()

	err := f.write(batch, table)
	t.mu.Lock()
	was := f.failing
	f.failing = err != nil
	if err == nil {
		f.kept = noted
	} else {
		f.pending, f.whole = nil, true
	}
	t.mu.Unlock()
	switch {
	case err != nil && !was:
		f.log.Error("purges are in force, and may be forgotten at a restart", "error", err)
	case err == nil && was:
		f.log.Info("purges are kept again, those included that were not", "file", f.path)
	}
	if err != nil {
		return &NotKeptError{err}
	}
	return nil
}

// write puts the table into the file, or the batch where there is no table.
func (f *file) write(batch []byte, table [][]byte) error {
	if table != nil {
		return f.replace(table)
	}
	return f.journal.Append(batch)
}

// replace writes a new file with these records.
func (f *file) replace(records [][]byte) error {
	journal, err := statefile.WriteJournal(f.path, format(), func(add func([]byte) error) error {
		for _, r := range records {
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep the purges: %w", err)
	}
	if f.journal != nil {
		_ = f.journal.Close() // it has no name any more
	}
	f.journal, f.limit = journal, growth*journal.Size()+minGrowth
	return nil
}

// snapshotLocked returns the records of a file with all that t knows.
func (t *Table) snapshotLocked() [][]byte {
	h := head{Identity: t.identity, seed: t.seed, latest: t.latest.Load(), settled: t.settled.Load()}
	records := [][]byte{h.appendTo(nil)}
	var record []byte
	t.changes(func(c change) {
		c.text = c.text[:min(len(c.text), maxText)]
		if record = c.appendTo(record); len(record) >= snapshotRecord {
			records, record = append(records, record), nil
		}
	})
	if record != nil {
		records = append(records, record)
	}
	return records
}

// Close keeps what is not kept yet and lets go of the file. No purge may come after that. A
// process that ends without it loses nothing for which Keep has returned.
func (t *Table) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.Keep()
	_ = t.file.journal.Close() // all is on the disk, or err says so
	t.file.release()
	return err
}
