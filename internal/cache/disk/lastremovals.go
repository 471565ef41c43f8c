package disk

import (
	"fmt"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// This file notes in a second file how far the log of removals was synced. A log that is cut between two removals, or has lost a page to zeros, looks
// like one that is whole. Then what the lost removals were about would be found again: what a purge or an unsafe request has removed, and old
// versions of what was replaced. With the note it is seen that the log ends too soon. Nothing says what the lost removals were, and of a
// directory in use nearly all records are older than its last removal. So none of its records is used.

// syncedTo returns how far the log is on the disk once it is synced.
func (j *journal) syncedTo() statefile.Last {
	return statefile.Last{uint64(j.number), uint64(j.log.size)} //nolint:gosec // not negative
}

// noteRemovals notes how far the log is on the disk. It is synced.
func (j *journal) noteRemovals() error {
	if j.log == nil || j.noted == j.syncedTo() {
		return nil
	}
	return j.call(func() error { return noSpace(j.writeNote(j.syncedTo())) })
}

// prepareNote makes the file of notes, if there is none: a log with a start whose note is missing is not believed.
func (j *journal) prepareNote() error {
	if j.turn > 0 {
		return nil
	}
	return j.writeNote(statefile.Last{uint64(j.number)})
}

func (j *journal) writeNote(l statefile.Last) (err error) {
	if j.notes == nil {
		if j.notes, err = j.dir.Append(lastRemovals); err != nil {
			return fmt.Errorf(lastRemovals+": %w", err)
		}
	}
	b, offset := l.Slot(j.turn + 1)
	if _, err = j.notes.WriteAt(b, offset); err == nil {
		err = j.notes.Sync()
	}
	if err != nil {
		return fmt.Errorf(lastRemovals+": %w", err)
	}
	j.noted = l
	j.turn++
	return nil
}

// readNote reads what was noted last, and goes on from there.
func (j *journal) readNote(g *logged) error {
	f, err := j.dir.Open(lastRemovals)
	if err == nil {
		j.noted, j.turn, err = statefile.ReadLast(f)
		_ = f.Close() // only read
	}
	j.number = max(g.start.Number, uint32(j.noted[0])) //nolint:gosec // it was one
	return notThere(err)
}

// lost reports whether g, as it was read, lacks removals that were synced; noted was noted last, in this turn.
func (g *logged) lost(noted statefile.Last, turn uint64) bool {
	switch number := uint64(g.start.Number); {
	case turn == 0: // a program that writes a start makes a note first
		return g.begins
	case !g.begins: // the log of an older program, if none was written since
		return noted[0] > 0
	case number < noted[0], g.sound < g.start.Bytes:
		return true
	default:
		return number == noted[0] && uint64(g.sound) < noted[1] //nolint:gosec // not negative
	}
}

// withoutLost returns the files of the directory that may be used. If removals were lost, it removes the others.
func (j *journal) withoutLost(files []device.Info) ([]device.Info, error) {
	g, err := j.readRemovals()
	if err == nil {
		err = j.readNote(&g)
	}
	if err != nil || !g.lost(j.noted, j.turn) {
		return files, err
	}
	var left []device.Info
	dropped, bytes := 0, int64(0)
	for _, f := range files {
		if _, segment := segmentNumber(f.Name); !segment || !f.Regular {
			left = append(left, f)
			continue
		}
		dropped++
		bytes += f.OnDisk
		if j.readOnly {
			continue // it is not used
		}
		if err := j.dir.Remove(f.Name); notThere(err) != nil {
			return nil, err
		}
	}
	j.o.Log.Error("removed.log of the disk tier ends before the last removal that was synced: all objects in the directory are dropped, as removed ones would come back",
		"path", j.o.Path, "log_bytes", g.sound, "synced_bytes", max(int64(j.noted[1]), g.start.Bytes), "segments", dropped, "bytes", bytes) //nolint:gosec // it was one
	return left, nil
}

var errRemovalsLost = fmt.Errorf(removalsName+" ends before the last removal that was synced, so the next start drops all objects: %w", layout.ErrDamaged)
