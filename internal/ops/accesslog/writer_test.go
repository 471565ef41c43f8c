package accesslog

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

func TestFailedWritesAreCountedAndReportedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []string
		d := &testkit.Disk{}
		l := mustNew(t, d, Options{OnError: func(err error) {
			if !errors.Is(err, testkit.ErrDiskFull) {
				t.Errorf("report: got %v, want it to wrap the cause", err)
			}
			reports = append(reports, err.Error())
		}})
		for n := range 121 { // one a second: at 0 s, at 60 s and at 120 s
			l.Write(numbered(n))
			synctest.Wait()
			if n < 120 {
				time.Sleep(time.Second)
			}
		}
		mustClose(t, l)
		if l.Dropped() != 121 || l.WriteErrors() != 121 {
			t.Errorf("got %d lines dropped and %d errors, want 121 of each", l.Dropped(), l.WriteErrors())
		}
		const text = "write access log: no space left (failures since the last report: "
		if got, want := strings.Join(reports, "|"), text+"1)|"+text+"60)|"+text+"60)"; got != want {
			t.Errorf("reports: got %s, want %s", got, want)
		}
	})
}

func TestCutLineDoesNotSpoilTheNext(t *testing.T) {
	f := func(room func(size int) int, silent bool, wantDropped uint64, wantLines ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			size := len(written(t, numbered(0)))
			d := &testkit.Disk{Room: room(size), Silent: silent}
			l := mustNew(t, d, Options{})
			for n := range 2 {
				l.Write(numbered(n))
				time.Sleep(gather)
				synctest.Wait()
			}
			d.Room = 1 << 20
			l.Write(numbered(2))
			mustClose(t, l)
			if got := l.Dropped(); got != wantDropped {
				t.Errorf("Dropped: got %d, want %d", got, wantDropped)
			}
			var whole []string
			for s := range strings.Lines(d.String()) {
				if strings.HasSuffix(s, "}\n") {
					whole = append(whole, decode(t, s).Target)
				}
			}
			if got, want := strings.Join(whole, " "), strings.Join(wantLines, " "); got != want {
				t.Errorf("whole lines: got %q, want %q", got, want)
			}
		})
	}
	f(func(int) int { return 0 }, false, 2, "/000002")
	f(func(int) int { return 10 }, false, 2, "/000002")
	f(func(int) int { return 10 }, true, 2, "/000002")
	f(func(size int) int { return size - 1 }, false, 1, "/000000", "/000002") // the line feed comes later
	f(func(size int) int { return size }, false, 1, "/000000", "/000002")
	f(func(size int) int { return size + 10 }, false, 1, "/000000", "/000002")
	f(func(size int) int { return 2 * size }, false, 0, "/000000", "/000001", "/000002")
}
