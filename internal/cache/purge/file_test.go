package purge_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/cache/statefile"
)

// open opens the table kept in dir, and returns what it said of it. It is closed at the end of the test.
func open(t testing.TB, dir string, o purge.Options) (table *purge.Table, said *bytes.Buffer) {
	t.Helper()
	said = &bytes.Buffer{}
	table, err := purge.Open(purge.Place{Dir: dir, Log: slog.New(slog.NewTextHandler(said, nil))}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	return table, said
}

// image copies a directory as a kill at this moment leaves it.
func image(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func keep(t testing.TB, table *purge.Table) {
	t.Helper()
	if err := table.Keep(); err != nil {
		t.Fatal(err)
	}
}

// TestNothingPurgedComesBackAfterARestart: a table that is opened again and again, after a Close
// and after a kill, says what the model says, which remembers every purge; never less where
// there is little room.
func TestNothingPurgedComesBackAfterARestart(t *testing.T) {
	f := func(seed uint64, o purge.Options, exact bool) {
		t.Helper()
		w := world{rand.New(rand.NewPCG(seed, 3))}
		dir := t.TempDir()
		table, _ := open(t, dir, o)
		var model naive
		born := []uint64{table.Now()} // after each number of purges
		for range 8 {
			for range 1 + w.IntN(30) {
				p := w.purge()
				model = append(model, p)
				p.do(table)
				born = append(born, table.Now())
				if w.IntN(3) > 0 {
					keep(t, table)
				}
			}
			keep(t, table)
			before, last := table.Identity(), table.Now()
			if w.IntN(2) == 0 {
				dir = image(t, dir)
			} else if err := table.Close(); err != nil {
				t.Fatal(err)
			}
			table, _ = open(t, dir, o)
			if now := table.Identity(); !now.Knows(before) || now.Run != before.Run+1 || table.Now() <= last {
				t.Fatalf("seed %d: got %+v and generation %d after %+v and %d, want a next run that knows it", seed, now, table.Now(), before, last)
			}
			for range 300 {
				n := w.IntN(len(born))
				u, tags := w.url(), []string{w.tag(), w.tag()}
				hashes := []uint64{table.HashTag(tags[0]), table.HashTag(tags[1])}
				want, got := model.check(uint64(n), u, tags), table.Check(born[n], u, hashes)
				if got < want || exact && got != want {
					t.Fatalf("seed %d, %d purges: %s://%s%s %v born after %d: got %v, want %v", seed, len(model), u.Scheme, u.Host, u.Target, tags, n, got, want)
				}
			}
			if s := table.Check(table.Now(), w.url(), []uint64{1}); s != purge.Valid {
				t.Fatalf("seed %d: born after the restart: got %v", seed, s)
			}
			if first := table.Identity().First(); table.Now() != first {
				t.Fatalf("seed %d: got generation %d at the start, want the first one, %d", seed, table.Now(), first)
			}
		}
	}

	for seed := range uint64(3) {
		f(seed, purge.Options{}, true)
		f(seed, purge.Options{Tags: 1, URLs: 1, Hosts: 1, Prefixes: 3}, false)
	}
}

// Floors were for buckets that another number of marks puts elsewhere.
func TestWhatWasFoldedStaysPurgedInTablesOfAnotherSize(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{Tags: 8, URLs: 8, Hosts: 8, Prefixes: 4})
	const count = 200
	born := table.Now()
	for i := range count {
		table.Tag(uint64(i)+1, false)
		table.URL(at("a", fmt.Sprint("/", i)), false)
		table.Host(fmt.Append(nil, "h", i), false)
		table.Prefix(at(fmt.Sprint("p", i), "/x/"), false)
	}
	for _, o := range []purge.Options{{Tags: 64, URLs: 32, Hosts: 16, Prefixes: 2}, {Tags: 4, URLs: 4, Hosts: 4, Prefixes: 1}, {}} {
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		table, _ = open(t, dir, o)
		for i := range count {
			for _, u := range []purge.URL{at("a", fmt.Sprint("/", i)), at(fmt.Sprint("h", i), "/"), at(fmt.Sprint("p", i), "/x/y")} {
				if got := table.Check(born, u, nil); got != purge.Gone {
					t.Errorf("%+v: %s%s: got %v, want %v", o, u.Host, u.Target, got, purge.Gone)
				}
			}
			if got := table.Check(born, at("other", "/"), []uint64{uint64(i) + 1}); got != purge.Gone {
				t.Errorf("%+v: tag %d: got %v, want %v", o, i, got, purge.Gone)
			}
		}
	}
}

// What was settled stays settled, and purges that come after the generation was asked for stay.
func TestSettledOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	born := table.Now()
	table.URL(at("a", "/1"), false)
	upTo := table.Now()
	table.URL(at("a", "/2"), false)
	keep(t, table)
	table.Settle(upTo)
	table.URL(at("a", "/3"), true)
	keep(t, table)
	table, _ = open(t, image(t, dir), purge.Options{})
	for target, want := range map[string]purge.State{"/1": purge.Valid, "/2": purge.Gone, "/3": purge.Stale} {
		if got := table.Check(born, at("a", target), nil); got != want {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
	if got := table.Settled(); got != upTo {
		t.Errorf("got settled %d, want %d", got, upTo)
	}
}

// A purge that was under way when the process was killed is cut off with a word; those
// before it stay.
func TestAnUnfinishedPurgeIsCutOff(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	stored, born := table.Identity(), table.Now()
	table.URL(at("a", "/kept"), false)
	keep(t, table)
	before := image(t, dir)
	path := filepath.Join(dir, "purges")
	whole := size(t, path)
	table.URL(at("a", "/unfinished"), false)
	keep(t, table)
	if err := os.Truncate(path, (whole+size(t, path))/2); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(before, "purges.last"), filepath.Join(dir, "purges.last")); err != nil { // Keep writes it last
		t.Fatal(err)
	}
	table, said := open(t, image(t, dir), purge.Options{})
	if !table.Identity().Knows(stored) {
		t.Error("got another history, want the same")
	}
	if got := table.Check(born, at("a", "/kept"), nil); got != purge.Gone {
		t.Errorf("got %v, want %v", got, purge.Gone)
	}
	if got := table.Check(born, at("a", "/unfinished"), nil); got != purge.Valid {
		t.Errorf("got %v, want %v: this test is about one that nobody was told of", got, purge.Valid)
	}
	if !strings.Contains(said.String(), "incomplete record") {
		t.Errorf("got the log %q, want a word about what was cut off", said)
	}
}

// Where the file is lost or damaged nothing that was stored before may be used.
func TestALostOrDamagedFileKnowsNothingThatWasStored(t *testing.T) {
	f := func(what string, harm func(path string, b []byte), log string) {
		t.Helper()
		dir := t.TempDir()
		table, _ := open(t, dir, purge.Options{})
		stored := table.Identity()
		for i := range 20 {
			table.URL(at("a", fmt.Sprint("/", i)), false)
			keep(t, table)
		}
		dir = image(t, dir)
		path := filepath.Join(dir, "purges")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		harm(path, b)
		for range 2 { // and the start after that knows no more
			again, said := open(t, dir, purge.Options{})
			if now := again.Identity(); now.Knows(stored) || now.KeySeed == stored.KeySeed {
				t.Errorf("%s: got %+v after %+v, want one that does not know it", what, now, stored)
			}
			if !strings.Contains(said.String(), log) {
				t.Errorf("%s: got the log %q, want %q in it", what, said, log)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			log = ""
		}
	}
	write := func(path string, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	f("lost", func(path string, _ []byte) { _ = os.Remove(path) }, "no saved purges found")
	f("empty", func(path string, _ []byte) { write(path, nil) }, "damaged at byte 0")
	f("damaged in the middle", func(path string, b []byte) {
		b[len(b)/2] ^= 1
		write(path, b)
		t.Cleanup(func() {
			if aside, err := os.ReadFile(filepath.Join(filepath.Dir(path), "purges.damaged")); err != nil || !bytes.Equal(aside, b) {
				t.Errorf("got %d bytes, %v, want the damaged file to be put aside", len(aside), err)
			}
		})
	}, "is damaged at byte")
	f("all of it cut off", func(path string, b []byte) { write(path, b[:16]) }, "it has no record")
}

// A journal that was cut between two records, or whose last pages were zeros, passed for one that is whole, and what it had lost came back.
func TestAJournalCutInItsMiddleBroughtBackPurges(t *testing.T) {
	const before, purged = 4000, 20 // the former fill several records of the whole table
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	stored, born := table.Identity(), table.Now()
	for i := range before {
		table.URL(at("a", fmt.Sprint("/before/", i)), false)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table, _ = open(t, dir, purge.Options{})
	path := filepath.Join(dir, "purges")
	whole := size(t, path)
	for i := range purged {
		table.URL(at("a", fmt.Sprint("/", i)), false)
		keep(t, table)
	}
	since, full := table.Now(), size(t, path)
	record := (full - whole) / purged
	dir = image(t, dir)
	f := func(what string, harm func(path string) error, sound bool) {
		t.Helper()
		dir := image(t, dir)
		if err := harm(filepath.Join(dir, "purges")); err != nil {
			t.Fatal(err)
		}
		for start := range 2 { // and the start after that knows it too
			again, said := open(t, dir, purge.Options{})
			if !again.Identity().Knows(stored) {
				t.Errorf("%s: got another history, want the same", what)
			}
			for i := range before {
				if got := again.Check(born, at("a", fmt.Sprint("/before/", i)), nil); got != purge.Gone {
					t.Fatalf("%s, start %d: /before/%d: got %v, want %v", what, start, i, got, purge.Gone)
				}
			}
			for i := range purged {
				if got := again.Check(born, at("a", fmt.Sprint("/", i)), nil); got != purge.Gone {
					t.Errorf("%s, start %d: /%d: got %v, want %v", what, start, i, got, purge.Gone)
				}
			}
			for _, of := range []uint64{since, again.Now()} {
				if got := again.Check(of, at("a", "/0"), nil); got != purge.Valid {
					t.Errorf("%s, start %d: stored after the last purge: got %v, want %v", what, start, got, purge.Valid)
				}
			}
			if got := again.Check(born, at("a", "/never"), nil); (got == purge.Valid) != sound {
				t.Errorf("%s, start %d: stored before and not purged: got %v", what, start, got)
			}
			if told := strings.Contains(said.String(), "before the last one that was confirmed"); told != (!sound && start == 0) {
				t.Errorf("%s, start %d: got the log %q", what, start, said)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	zeros := func(path string, from int64) error {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteAt(make([]byte, full-from), from)
		return errors.Join(err, file.Close())
	}

	f("not cut", func(string) error { return nil }, true)
	f("cut before the last record", func(path string) error { return os.Truncate(path, full-record) }, false)
	f("cut in the middle of a record", func(path string) error { return os.Truncate(path, full-5*record-7) }, false)
	f("cut behind the whole table", func(path string) error { return os.Truncate(path, whole) }, false)
	f("cut in the whole table", func(path string) error { return os.Truncate(path, whole/2) }, false)
	f("zeros from the middle of a record on", func(path string) error { return zeros(path, full-5*record-7) }, false)
	f("zeros from a record on", func(path string) error { return zeros(path, full-record) }, false)
}

// A whole table that was cut has its newest generation all the same: it stands in the head.
func TestAWholeTableThatWasCutBroughtBackPurges(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	born := table.Now()
	for i := range 4000 {
		table.URL(at("a", fmt.Sprint("/", i)), false)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table, _ = open(t, dir, purge.Options{}) // which writes the whole table
	dir = image(t, dir)
	path := filepath.Join(dir, "purges")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{16 + 12 + 56 + 1, len(b) / 2, len(b) - 1} { // the first one is the border behind the head
		if err := os.WriteFile(path, b[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		again, said := open(t, image(t, dir), purge.Options{})
		for i := range 4000 {
			if got := again.Check(born, purge.URL{Scheme: "http", Host: []byte("a"), Target: fmt.Append(nil, "/", i)}, nil); got != purge.Gone {
				t.Fatalf("cut at %d of %d: /%d: got %v, want %v: %s", at, len(b), i, got, purge.Gone, said)
			}
		}
	}
	_ = table.Close()
}

// Without its number a journal may have lost any purge, and so it may with that of another journal.
func TestWithoutItsNumberAJournalIsNotBelieved(t *testing.T) {
	dir, foreign := t.TempDir(), t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	other, _ := open(t, foreign, purge.Options{})
	_ = other.Close()
	born := table.Now()
	table.URL(at("a", "/"), false)
	keep(t, table)
	dir = image(t, dir)
	f := func(what string, harm func(path string) error) {
		t.Helper()
		dir := image(t, dir)
		if err := harm(filepath.Join(dir, "purges.last")); err != nil {
			t.Fatal(err)
		}
		again, said := open(t, dir, purge.Options{})
		if got := again.Check(born, at("a", "/never"), nil); got != purge.Gone {
			t.Errorf("%s: stored before: got %v, want %v", what, got, purge.Gone)
		}
		if got := again.Check(again.Now(), at("a", "/never"), nil); got != purge.Valid {
			t.Errorf("%s: stored now: got %v, want %v", what, got, purge.Valid)
		}
		if said.Len() == 0 {
			t.Errorf("%s: got no word in the log", what)
		}
	}

	f("lost", os.Remove)
	f("empty", func(path string) error { return os.Truncate(path, 0) })
	f("zeros", func(path string) error { return os.WriteFile(path, make([]byte, 8192), 0o600) })
	f("of another journal", func(path string) error {
		b, err := os.ReadFile(filepath.Join(foreign, "purges.last"))
		return errors.Join(err, os.WriteFile(path, b, 0o600))
	})
	_ = table.Close()
}

// A journal of before there was a number is read as it is, and has one from then on.
func TestAJournalOfAnOlderProgramIsRead(t *testing.T) {
	dir := t.TempDir()
	var head []byte
	for _, n := range []uint64{11, 1, 13, 17, 1<<40 + 1, 0} { // history, run, the seeds, the newest generation, settled
		head = binary.LittleEndian.AppendUint64(head, n)
	}
	journal, err := statefile.WriteJournal(filepath.Join(dir, "purges"), statefile.Format{Magic: "edge\x00pu\x1a", Version: 1}, func(add func([]byte) error) error { return add(head) })
	if err != nil {
		t.Fatal(err)
	}
	_ = journal.Close()
	for range 2 {
		table, said := open(t, dir, purge.Options{})
		if !table.Identity().Knows(purge.Identity{History: 11, Run: 1, KeySeed: 13}) {
			t.Errorf("got %+v, want the history to go on", table.Identity())
		}
		if got := table.Check(1<<40, at("a", "/"), nil); got != purge.Valid || said.Len() > 0 {
			t.Errorf("got %v and the log %q, want nothing to be purged", got, said)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An older copy, put back, lacks the purges since.
func TestAnOlderCopyDoesNotKnowWhatWasStoredSince(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	old := image(t, dir)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table, _ = open(t, dir, purge.Options{})
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table, _ = open(t, dir, purge.Options{})
	stored := table.Identity()
	again, _ := open(t, old, purge.Options{})
	if again.Identity().Knows(stored) {
		t.Errorf("got %+v after %+v, want one that does not know it", again.Identity(), stored)
	}
}

func TestAFileThatIsNotOursStays(t *testing.T) {
	f := func(content string, check func(error) bool) {
		t.Helper()
		dir := t.TempDir()
		path := filepath.Join(dir, "purges")
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		_, err := purge.Open(purge.Place{Dir: dir}, purge.Options{})
		if !check(err) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: got error %v, want another that names the file", content, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("got %q, %v, want it untouched", b, err)
		}
	}

	f("purges of the week\n", func(err error) bool { return errors.Is(err, statefile.ErrForeign) })
	f("edge\x00pu\x1a\x02\x00\x00\x00....", func(err error) bool {
		v, ok := errors.AsType[*statefile.VersionError](err)
		return ok && v.Got == 2
	})
}

func TestADirectoryHasOneTable(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	if _, err := purge.Open(purge.Place{Dir: dir}, purge.Options{}); !errors.Is(err, statefile.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, purge.Options{})
	if _, err := purge.Open(purge.Place{Dir: filepath.Join(dir, "none")}, purge.Options{}); err == nil {
		t.Error("no directory: got no error")
	}
}

// The seed of the keys is that of the sightings, where they have one already, and then stays.
func TestTheKeySeedStays(t *testing.T) {
	dir := t.TempDir()
	for _, hint := range []uint64{7, 8, 0} {
		table, err := purge.Open(purge.Place{Dir: dir, KeySeed: hint}, purge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Identity().KeySeed; got != 7 {
			t.Errorf("got seed %d, want 7", got)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The file does not grow with the number of purges.
func TestTheFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{Tags: 64, URLs: 64, Hosts: 64, Prefixes: 64})
	most := int64(0)
	for i := range 15 {
		for j := range 2000 {
			table.URL(at("a", fmt.Sprint("/", i, "/", j)), false)
			table.Prefix(at("a", fmt.Sprint("/", i, "/", j, "/")), false)
		}
		keep(t, table)
		most = max(most, size(t, filepath.Join(dir, "purges")))
	}
	if most > 2<<20 {
		t.Errorf("got a file of %d bytes after 60,000 purges, want at most 2 MiB", most)
	}
	born := table.Identity().First()
	table, _ = open(t, image(t, dir), purge.Options{Tags: 64, URLs: 64, Hosts: 64, Prefixes: 64})
	for i := range 15 {
		if got := table.Check(born, at("a", fmt.Sprint("/", i, "/77")), nil); got != purge.Gone {
			t.Errorf("/%d/77: got %v, want %v", i, got, purge.Gone)
		}
	}
}

// Many at once wait for few writes, and each is kept when it returns.
func TestPurgesAtOnceAreAllKept(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	born := table.Now()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				table.URL(at("a", fmt.Sprint("/", i, "/", j)), false)
				if err := table.Keep(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	table, _ = open(t, image(t, dir), purge.Options{})
	for i := range 8 {
		for j := range 20 {
			if got := table.Check(born, at("a", fmt.Sprint("/", i, "/", j)), nil); got != purge.Gone {
				t.Errorf("/%d/%d: got %v, want %v", i, j, got, purge.Gone)
			}
		}
	}
}

// A prefix of any length may be purged. A longer one than the file takes reaches more after
// a restart, and never less.
func TestAVeryLongPrefixStaysPurged(t *testing.T) {
	dir := t.TempDir()
	table, _ := open(t, dir, purge.Options{})
	born, long := table.Now(), "/"+strings.Repeat("x", 300<<10)
	for i := range 5 {
		table.Prefix(at("a", fmt.Sprint(long, i)), false)
	}
	keep(t, table)
	table, _ = open(t, image(t, dir), purge.Options{})
	if got := table.Check(born, at("a", long+"3 and on"), nil); got != purge.Gone {
		t.Errorf("got %v, want %v", got, purge.Gone)
	}
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
