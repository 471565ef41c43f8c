package cache

import (
	"testing"
	"time"

	"edgeproxy/internal/http/field"
)

// renewable puts an entry on the disk, where a 304 will find it, and returns it.
func renewable(t *testing.T, s *Store, size int) *Entry {
	t.Helper()
	e := plain("/a", 1, size)
	e.Serial, e.Born = 5, 3
	e.Header = field.List{{Name: "Etag", Value: `"1"`}, {Name: "Date", Value: "Mon, 23 Nov 2026 08:00:00 GMT"}}
	e.ResponseTime, e.Policy.Lifetime, e.Policy.Keep = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC), time.Minute, time.Hour
	mustPut(t, s, e)
	return e
}

// confirmed returns e as a 304 has renewed it two minutes later.
func confirmed(e *Entry) *Entry {
	next := *e
	next.Serial, next.Born = e.Serial+1, e.Born+1
	next.ResponseTime, next.InitialAge = e.ResponseTime.Add(2*time.Minute), 1500*time.Microsecond
	next.Header = field.List{{Name: "Date", Value: "Mon, 23 Nov 2026 08:02:00 GMT"}, e.Header[0]}
	return &next
}

// A 304 renews what is on the disk without a write of the object, for this process and, where 32 bytes say it, for the next.
func TestWhatIsOnDiskIsRenewed(t *testing.T) {
	f := func(name string, size int, change func(e *Entry), outlives bool) {
		t.Run(name, func(t *testing.T) {
			s, d := newStoreOnDisk(t, usualOptions())
			e := renewable(t, s, size)
			if err := d.Flush(); err != nil {
				t.Fatal(err)
			}
			next := confirmed(e)
			change(next)
			if !s.Renew(next, e.Serial, never) {
				t.Fatal("not renewed")
			}
			check := func(what string, want *Entry, age time.Duration) {
				t.Helper()
				o, loaded := lookUp(s, "/a", "")
				if !loaded {
					t.Fatalf("%s: it is not on the disk", what)
				}
				defer s.Release(o)
				if got := o.Entry(); !sameResponse(got, want) || !got.ResponseTime.Equal(want.ResponseTime) || got.InitialAge != age {
					t.Errorf("%s: got %+v, want %+v", what, got, want)
				}
				if got := contentBytes(t, o); len(got) != size || versionOf(NewObject(&Entry{Content: InMemory(got)})) != 1 {
					t.Errorf("%s: got another content", what)
				}
			}
			check("renewed", next, next.InitialAge)
			o := usualOptions()
			o.Disk = d
			s = newStoreOf(t, o)
			if outlives {
				check("next process", next, 2*time.Millisecond)
			} else {
				check("next process", e, 0)
			}
			if st := d.Stats(); st.Puts != 1 {
				t.Errorf("got %d puts, want 1", st.Puts)
			}
		})
	}
	f("small", 1000, func(*Entry) {}, true)
	f("long", 100<<10, func(*Entry) {}, true)
	f("another lifetime", 1000, func(e *Entry) { e.Policy.Lifetime = time.Hour }, true)
	f("a fraction of a second", 1000, func(e *Entry) { e.Policy.Lifetime = time.Hour + 1 }, false)
	f("another field", 1000, func(e *Entry) { e.Header = append(e.Header, field.Field{Name: "X", Value: "1"}) }, false)
	f("other tags", 1000, func(e *Entry) { e.Tags = []uint64{1} }, false)
}

// A 304 about what has been replaced changes nothing, and one after another goes on from the first.
func TestRenewalsOnDiskAreOfTheirRecord(t *testing.T) {
	s, d := newStoreOnDisk(t, usualOptions())
	e := renewable(t, s, 1000)
	first := confirmed(e)
	second := confirmed(first)
	for _, r := range []struct{ e, of *Entry }{{first, e}, {second, first}} {
		if !s.Renew(r.e, r.of.Serial, never) {
			t.Fatal("not renewed")
		}
	}
	if o, _ := lookUp(s, "/a", ""); o.Serial() != second.Serial {
		t.Errorf("got serial %d, want %d", o.Serial(), second.Serial)
	}
	again := *e
	again.Serial = 50
	mustPut(t, s, &again)
	_ = s.Renew(confirmed(second), second.Serial, never)
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	if o, _ := lookUp(s, "/a", ""); o.Serial() != 50 || !o.ResponseTime().Equal(again.ResponseTime) {
		t.Errorf("got serial %d of %v, want what was put last", o.Serial(), o.ResponseTime())
	}
}
