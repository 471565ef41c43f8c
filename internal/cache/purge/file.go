package purge

import (
	"fmt"
	"log/slog"

	"edgeproxy/internal/cache/statefile"
)

const (
	// maxText bounds the text of a prefix in the file. A longer one is truncated there, so after a restart it purges more.
	maxText = 64 << 10
	// maxPending bounds the purges that wait for Keep, in bytes. Above it, Keep writes the whole table instead.
	maxPending = 256 << 10
	// The file is rewritten when it exceeds growth times the size of the last whole table, plus minGrowth.
	growth, minGrowth = 2, 1 << 20

	snapshotRecord = 64 << 10 // size of a record of the whole table, in bytes
)

// NotKeptError says that purges are in force, but the next start may not know them.
type NotKeptError struct{ err error }

// Error returns the message, with the cause.
func (e *NotKeptError) Error() string {
	return "purged, but not saved: purged responses may come back after a restart: " + e.err.Error()
}

// Unwrap returns the error of the file.
func (e *NotKeptError) Unwrap() error { return e.err }

// Purged reports that the purge was done, unlike with other errors.
func (e *NotKeptError) Purged() bool { return true }

// file stores a Table. A nil *file stores nothing.
type file struct {
	path    string
	log     *slog.Logger
	release func()

	// writing holds a token while a goroutine uses the fields below.
	writing chan struct{}
	journal *statefile.Journal
	limit   int64 // bound of its size
	last    *statefile.LastFile

	// guarded by Table.mu
	pending []byte // changes that are not in the journal yet
	whole   bool   // write the whole table instead
	noted   uint64 // number of changes so far
	kept    uint64 // number of those on the disk
	failing bool   // the last write failed
}

func newFile(path string, log *slog.Logger) *file {
	return &file{path: path, log: log, writing: make(chan struct{}, 1)}
}

// noteLocked adds a change to what the next Keep writes.
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

// settledLocked makes the next Keep write the whole table, without the dropped marks. Until then the file still has them.
// They purge nothing new: the responses that they reached are removed.
func (f *file) settledLocked() {
	if f != nil {
		f.pending, f.whole = nil, true
	}
}

// Keeps reports whether the table is kept in a file.
func (t *Table) Keeps() bool { return t.file != nil }

// Identity returns the Identity of this table; it does not change.
func (t *Table) Identity() Identity { return t.identity }

// Keep returns when all purges made before the call survive a restart, also after a kill or a power loss. Purges made at the
// same time are written together. The error is a *NotKeptError: all purges are in force nevertheless, and the next Keep
// tries again for all of them. Without a file it does nothing.
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
	noted, batch, last := f.noted, f.pending, t.latest.Load()
	var table [][]byte
	if f.whole || f.journal.Size()+int64(len(batch)) > f.limit {
		table = t.snapshotLocked()
	}
	f.pending, f.whole = nil, false
	t.mu.Unlock()

	err := f.write(batch, table)
	if err == nil {
		err = f.last.Set(t.identity.last(last))
	}
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
		f.log.Error("purges are in force but not saved: after a restart purged responses may come back", "error", err)
	case err == nil && was:
		f.log.Info("purges are saved again, with those that could not be saved before", "file", f.path)
	}
	if err != nil {
		return &NotKeptError{err}
	}
	return nil
}

// write writes the table to the file, or appends the batch if there is no table.
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
		return fmt.Errorf("save the purges: %w", err)
	}
	if f.journal != nil {
		_ = f.journal.Close() // the file was replaced
	}
	f.journal, f.limit = journal, growth*journal.Size()+minGrowth
	return nil
}

// snapshotLocked returns the records of a file with the whole table.
func (t *Table) snapshotLocked() [][]byte {
	records := [][]byte{nil} // the first is the head
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
	h := head{Identity: t.identity, seed: t.seed, latest: t.latest.Load(), settled: t.settled.Load(), records: uint64(len(records)) - 1}
	records[0] = h.appendTo(nil)
	return records
}

// Close calls Keep and releases the file. No purge may follow. A process that ends without Close loses nothing that Keep has
// returned for.
func (t *Table) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.Keep()
	_ = t.file.journal.Close() // all is on the disk, or err says why not
	t.file.last.Close()
	t.file.release()
	return err
}
