package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostWings is how many folders internal has at most: as many names as a stranger reads before the first file.
const mostWings = 13

// law says who may import what. See wings_test.go for each.
type law struct {
	wings    []wing
	modules  map[string][]string
	testOnly []string
	unsafe   []string
	without  map[string][]string
}

func laws() law {
	return law{wings: wings(), modules: modules(), testOnly: testOnly(), unsafe: unsafeRooms(), without: without()}
}

func TestImportsKeepTheLaw(t *testing.T) {
	for _, problem := range laws().problems(house(t)) {
		t.Error(problem)
	}
}

func TestInternalHasFewNames(t *testing.T) {
	names := map[string]bool{}
	for _, f := range house(t).files {
		if below, ok := strings.CutPrefix(f.room, "internal/"); ok {
			name, _, _ := strings.Cut(below, "/")
			names[name] = true
		}
	}
	if len(names) > mostWings || len(names) < 10 {
		t.Errorf("internal has %d folders, must be at most %d: %q", len(names), mostWings, slices.Sorted(maps.Keys(names)))
	}
}

// problems holds every import of the tree against the law, and the law against the tree.
func (l law) problems(tr *tree) []string {
	out := l.ownProblems()
	rooms, used := map[string]bool{}, map[string]bool{}
	for _, f := range tr.files {
		if !rooms[f.room] && l.wingOf(f.room) == nil {
			out = append(out, f.room+": stands in no wing: enter it in wings_test.go")
		}
		rooms[f.room] = true
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil { // the parser takes no such import
				target = spec.Path.Value
			}
			if !f.test {
				used[f.room+" "+moduleOf(l.modules, target)] = true
			}
			if why := l.forbids(f, target); why != "" {
				out = append(out, fmt.Sprintf("%s: %s imports %s: %s", tr.at(spec.Pos()), f.room, target, why))
			}
		}
	}
	return append(out, l.idle(rooms, used)...)
}

// ownProblems lists wings that import what does not stand before them: so no circle of wings can be.
func (l law) ownProblems() (out []string) {
	before := map[string]bool{}
	for _, w := range l.wings {
		for _, name := range w.imports {
			if !before[name] {
				out = append(out, fmt.Sprintf("%s: imports %s, which must stand before it", w.name, name))
			}
		}
		before[w.name] = true
	}
	return out
}

// idle lists what the law names and the tree does not have.
func (l law) idle(rooms, used map[string]bool) (out []string) {
	for _, w := range l.wings {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(rooms)), func(room string) bool { return within(w.name, room) }) {
			out = append(out, w.name+": named by the law, but there is no such wing")
		}
	}
	for _, name := range slices.Concat(l.testOnly, l.unsafe, slices.Sorted(maps.Keys(l.without))) {
		if !rooms[name] {
			out = append(out, name+": named by the law, but there is no such room")
		}
	}
	for _, m := range slices.Sorted(maps.Keys(l.modules)) {
		for _, room := range l.modules[m] {
			if !used[room+" "+m] {
				out = append(out, fmt.Sprintf("%s: may import %s, and does not", room, m))
			}
		}
	}
	return out
}

// forbids says why f may not import target; "" if it may.
func (l law) forbids(f file, target string) string {
	name, own := strings.CutPrefix(target, module+"/")
	first, _, _ := strings.Cut(target, "/")
	switch {
	case own && strings.HasPrefix(name, "cmd/"):
		return "nothing imports a command"
	case target == "C":
		return "no room needs it"
	case target == "unsafe" && slices.Contains(l.unsafe, f.room) && !f.test:
		return ""
	case target == "unsafe":
		return "this room does without it"
	case f.test || slices.Contains(l.testOnly, f.room):
		return ""
	case slices.Contains(l.without[f.room], target):
		return "this room does without it"
	case own && slices.Contains(l.testOnly, name):
		return "that room is for tests only"
	case own && !l.reaches(f.room, name):
		return "not one of its wings"
	case !own && strings.Contains(first, ".") && !slices.Contains(l.modules[moduleOf(l.modules, target)], f.room):
		return "not one of its modules"
	}
	return ""
}

// reaches says whether the wing of room may import that of target.
func (l law) reaches(room, target string) bool {
	from, to := l.wingOf(room), l.wingOf(target)
	return from != nil && to != nil && (from == to || slices.Contains(from.imports, to.name))
}

// wingOf returns the wing in which a room stands; nil is none.
func (l law) wingOf(room string) *wing {
	for i := range l.wings {
		if within(l.wings[i].name, room) {
			return &l.wings[i]
		}
	}
	return nil
}

// within says whether a room is a folder, or below it.
func within(folder, room string) bool { return room == folder || strings.HasPrefix(room, folder+"/") }

// moduleOf returns the module of the table that has the package; "" is none.
func moduleOf(table map[string][]string, pkg string) string {
	for m := range table {
		if within(m, pkg) {
			return m
		}
	}
	return ""
}
