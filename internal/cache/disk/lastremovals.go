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
func (v *volume) syncedTo() statefile.Last {
	return statefile.Last{uint64(v.logNumber), uint64(v.log.size)} //nolint:gosec // not negative
}

// noteRemovals notes how far the log is on the disk. It is synced.
func (v *volume) noteRemovals() error {
	if v.log == nil || v.noted == v.syncedTo() {
		return nil
	}
	return v.call(func() error { return noSpace(v.writeNote(v.syncedTo())) })
}

// prepareNote makes the file of notes, if there is none: a log with a start whose note is missing is not believed.
func (v *volume) prepareNote() error {
	if v.noteTurn > 0 {
		return nil
	}
	return v.writeNote(statefile.Last{uint64(v.logNumber)})
}

func (v *volume) writeNote(l statefile.Last) (err error) {
	if v.notes == nil {
		if v.notes, err = v.dir.Append(lastRemovals); err != nil {
			return fmt.Errorf(lastRemovals+": %w", err)
		}
	}
	b, offset := l.Slot(v.noteTurn + 1)
	if _, err = v.notes.WriteAt(b, offset); err == nil {
		err = v.notes.Sync()
	}
	if err != nil {
		return fmt.Errorf(lastRemovals+": %w", err)
	}
	v.noted = l
	v.noteTurn++
	return nil
}

// readNote reads what was noted last, and goes on from there.
func (v *volume) readNote(g *logged) error {
	f, err := v.dir.Open(lastRemovals)
	if err == nil {
		v.noted, v.noteTurn, err = statefile.ReadLast(f)
		_ = f.Close() // only read
	}
	v.logNumber = max(g.start.Number, uint32(v.noted[0])) //nolint:gosec // it was one
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
func (v *volume) withoutLost(files []device.Info) ([]device.Info, error) {
	g, err := v.readRemovals()
	if err == nil {
		err = v.readNote(&g)
	}
	if err != nil || !g.lost(v.noted, v.noteTurn) {
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
		if v.readOnly {
			continue // it is not used
		}
		if err := v.dir.Remove(f.Name); notThere(err) != nil {
			return nil, err
		}
	}
	v.o.Log.Error("removed.log of the disk tier ends before the last removal that was synced: all objects in the directory are dropped, as removed ones would come back",
		"path", v.o.Path, "log_bytes", g.sound, "synced_bytes", max(int64(v.noted[1]), g.start.Bytes), "segments", dropped, "bytes", bytes) //nolint:gosec // it was one
	return left, nil
}

var errRemovalsLost = fmt.Errorf(removalsName+" ends before the last removal that was synced, so the next start drops all objects: %w", layout.ErrDamaged)
