package disk

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// This file decides which directories of a group may keep their records.
//
// One of them is the home. Its seed is that of the group. The file "members" in each directory lists the last members of the group by their
// secrets, and counts how often that list has changed. The home is the one with the highest count; among equals, the first with Options.Home. A
// record that was written with another seed cannot be found. Records of a directory that the home does not list, as it was out of the group, may
// have been replaced or purged since. Such directories do not keep their records.

const membersName = "members"

// members is the content of a file "members".
type members struct {
	changes uint64
	all     []member // nil: there is no file
}

// member is a directory of a group.
type member struct {
	secret uint64
	path   string
}

func (m members) has(secret uint64) bool {
	return slices.ContainsFunc(m.all, func(one member) bool { return one.secret == secret })
}

func readMembers(path string) (m members) {
	f, err := statefile.Open(filepath.Join(path, membersName))
	if err != nil {
		return m
	}
	defer func() { _ = f.Close() }() // only read
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		return m
	}
	if _, err := fmt.Sscanf(lines.Text(), "%d", &m.changes); err != nil {
		return members{}
	}
	for lines.Scan() {
		var one member
		number, path, ok := strings.Cut(lines.Text(), " ")
		if _, err := fmt.Sscanf(number, "%x", &one.secret); ok && err == nil {
			one.path = path
			m.all = append(m.all, one)
		}
	}
	return m
}

func (m members) write(path string) error {
	return statefile.Write(filepath.Join(path, membersName), func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, m.changes); err != nil {
			return err
		}
		for _, one := range m.all {
			if _, err := fmt.Fprintf(w, "%016x %s\n", one.secret, one.path); err != nil {
				return err
			}
		}
		return nil
	})
}

// arrangement is the result of reading the directories of a group before they are opened.
type arrangement struct {
	seed    uint64 // 0: no directory has been used
	known   members
	dropped []bool // for each option: the directory does not keep its records
}

// arrange reads the directories. It changes nothing.
func arrange(all []Options) arrangement {
	a := arrangement{dropped: make([]bool, len(all))}
	heads := make([]*layout.Header, len(all)) // heads of the directories that have been used
	home := -1
	for i, o := range all {
		h, err := readHeader(filepath.Join(o.Path, headerName))
		if err != nil {
			continue
		}
		heads[i] = &h
		says := readMembers(o.Path)
		if home < 0 || says.changes > a.known.changes || says.changes == a.known.changes && o.Home && !all[home].Home {
			home, a.known, a.seed = i, says, h.Seed
		}
	}
	for i, h := range heads {
		a.dropped[i] = h != nil && i != home && !a.keeps(h)
	}
	return a
}

// keeps reports whether a directory with this head, which is not the home, keeps its records.
func (a *arrangement) keeps(h *layout.Header) bool {
	return h.Seed == a.seed && (a.known.all == nil || a.known.has(h.Secret))
}

// Dropped returns the paths of the directories whose records OpenGroup would drop. It changes nothing.
func Dropped(all ...Options) (paths []string) {
	for i, drop := range arrange(all).dropped {
		if drop {
			paths = append(paths, all[i].Path)
		}
	}
	return paths
}

// writeMembers writes the members of the group to each directory in use. A directory that is not in use is listed as it was before.
func (g *Group) writeMembers(before members) {
	now := g.members(before)
	for _, s := range g.stores {
		was := readMembers(s.o.Path)
		v, same := s.volume.Load(), was.changes == now.changes && slices.Equal(was.all, now.all)
		if v == nil || v.readOnly || same || was.all == nil && len(g.stores) == 1 {
			continue
		}
		if err := now.write(s.o.Path); err != nil {
			s.log.Warn("the list of directories was not written to a directory of the disk tier; the next start may drop stored objects", "path", s.o.Path, "file", membersName, "error", err.Error())
		}
	}
}

// members returns the new list of members. Before is the old one.
func (g *Group) members(before members) members {
	now := members{changes: before.changes + 1}
	for _, s := range g.stores {
		if v := s.volume.Load(); v != nil {
			now.all = append(now.all, member{v.head.Secret, s.o.Path})
		} else if i := slices.IndexFunc(before.all, func(m member) bool { return m.path == s.o.Path }); i >= 0 {
			now.all = append(now.all, before.all[i])
		}
	}
	slices.SortFunc(now.all, func(a, b member) int { return cmp.Compare(a.secret, b.secret) })
	if slices.Equal(now.all, before.all) {
		now.changes = before.changes
	}
	return now
}

// clearDirectory removes the cache's files from a directory, and gives it a head of the group. It returns the files that are left.
func clearDirectory(o Options, dir *device.Dir, files []device.Info) ([]device.Info, error) {
	header := filepath.Join(o.Path, headerName)
	if _, err := readHeader(header); err != nil {
		return files, nil //nolint:nilerr // it is none: who opens it says so
	}
	bytes := int64(0)
	for _, f := range files {
		_, segment := segmentNumber(f.Name)
		if !f.Regular || !segment && f.Name != removalsName && f.Name != lastRemovals && f.Name != membersName {
			continue
		}
		bytes += f.OnDisk
		if err := dir.Remove(f.Name); notThere(err) != nil {
			return nil, err
		}
	}
	o.Log.Warn("all objects in a directory of the disk tier were dropped: it was not in use at the last start, or without the other directories", "path", o.Path, "bytes", bytes)
	if _, err := writeHeader(header, o); err != nil {
		return nil, err
	}
	return dir.List()
}
