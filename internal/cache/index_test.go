package cache

import (
	"fmt"
	"testing"
	"time"
)

func TestVariantsOfAURLAreBounded(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 3})
	put := func(v string) { mustPut(t, s, variant("/a", v, 8, "Accept")) }
	for _, v := range []string{"1", "2", "3", "1", "4"} { // 1 is renewed, so 2 is the oldest
		put(v)
	}
	for v, want := range map[string]bool{"1": true, "2": false, "3": true, "4": true} {
		if got := holds(s, "/a\x00"+v); got != want {
			t.Errorf("variant %s: got held %v, want %v", v, got, want)
		}
	}
	if st := s.Stats(); st.Variants != 1 || st.Replaced != 1 || st.Objects != 3 {
		t.Errorf("got %d evicted, %d replaced, %d held; want 1, 1, 3", st.Variants, st.Replaced, st.Objects)
	}
}

// 33 spellings of a field used to flush all variants of a URL: the oldest went, however
// much it was asked for.
func TestSpellingsOfAFieldPushOutNoVariantInUse(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4})
	at := time.Unix(1, 0)
	put := func(v string) {
		e := variant("/a", v, 8, "Accept-Encoding")
		e.ResponseTime = at
		mustPut(t, s, e)
	}
	for _, v := range []string{"br", "gzip", "zstd"} {
		put(v)
		for range 300 {
			holds(s, "/a\x00"+v)
		}
	}
	for i := range 1000 { // within a minute, and each asked for again
		v := fmt.Sprint("odd", i)
		put(v)
		holds(s, "/a\x00"+v)
	}
	for _, v := range []string{"br", "gzip", "zstd", "odd999"} {
		if !holds(s, "/a\x00"+v) {
			t.Errorf("%s was pushed out by variants that nobody asks for", v)
		}
	}
	put("br") // a renewal starts from the uses that there were
	put("odd")
	if !holds(s, "/a\x00br") {
		t.Error("br was pushed out after its renewal")
	}
	for range 10 { // what nobody asks for any more fades by the clock
		at = at.Add(time.Hour)
		for _, v := range []string{"new1", "new2", "new3"} {
			put(v)
			for range 100 {
				holds(s, "/a\x00"+v)
			}
		}
	}
	for v, want := range map[string]bool{"new1": true, "new2": true, "new3": true} {
		if got := holds(s, "/a\x00"+v); got != want {
			t.Errorf("%s: got held %v, want %v", v, got, want)
		}
	}
}

// A variant that main evicted takes up no place among the allowed ones.
func TestVariantsAlreadyGoneAreStruckOffFirst(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 2})
	first, second := variant("/a", "1", 8, "Accept"), variant("/a", "2", 8, "Accept")
	mustPut(t, s, first)
	mustPut(t, s, second)
	s.mu.Lock()
	s.removeLocked(second.Key, []byte("/a"), capacity) // what an eviction would do
	s.mu.Unlock()
	mustPut(t, s, variant("/a", "3", 8, "Accept"))
	if !holds(s, "/a\x001") || !holds(s, "/a\x003") {
		t.Errorf("got held 1: %v, 3: %v; want both", holds(s, "/a\x001"), holds(s, "/a\x003"))
	}
	if st := s.Stats(); st.Variants != 0 {
		t.Errorf("got %d variants evicted, want 0", st.Variants)
	}
}

// An index smaller than MaxVariants asks for must not loop or give way.
func TestOneURLMayFillTheIndex(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 64 << 10, MaxObjectBytes: 1000, MaxVariants: 1 << 20})
	names := map[string]Key{}
	mustPut(t, s, variant("/other", "1", 8, "Accept"))
	for i := range 1000 {
		e := variant("/a", fmt.Sprint(i), 8, "Accept")
		mustPut(t, s, e)
		if !holds(s, string(e.Name)) {
			t.Fatalf("variant %d: got a miss right after Put", i)
		}
		names[string(e.Name)] = e.Key
	}
	if fieldsOf(s, "/other") != nil || fieldsOf(s, "/a") == nil {
		t.Error("got the older URL kept, want only the one in use")
	}
	checkBooks(t, s, names)
}

// A record that grows may be the oldest of a full index: others must go.
func TestAGrowingRecordIsNotDroppedForItself(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, variant("/grows", "1", 8, "Accept"))
	url := ""
	for i := 0; s.index.bytes.Load()+variantBytes <= s.limits.indexBytes; i++ {
		if next := fmt.Sprintf("/filler/%d", i); s.index.bytes.Load()+variant(next, "0", 8, "Accept").weight().record+variantBytes <= s.limits.indexBytes {
			url = next
		}
		mustPut(t, s, variant(url, fmt.Sprint(i), 8, "Accept"))
	}
	mustPut(t, s, variant("/grows", "2", 8, "Accept"))
	if !holds(s, "/grows\x001") || !holds(s, "/grows\x002") || len(fieldsOf(s, "/grows")) != 1 {
		t.Errorf("got held 1: %v, 2: %v, fields %q; want both and their record",
			holds(s, "/grows\x001"), holds(s, "/grows\x002"), fieldsOf(s, "/grows"))
	}
}

// URLs in use must outlive those asked for once.
func TestIndexDropsTheLeastRecentlyUsedURL(t *testing.T) {
	s := newStore(t, 1<<20, 64<<10)
	mustPut(t, s, variant("/used", "1", 8, "Accept"))
	for i := range 300 {
		mustPut(t, s, variant(fmt.Sprintf("/once/%d", i), "1", 8, "Accept"))
		if fieldsOf(s, "/used") == nil {
			t.Fatalf("after %d other URLs: got the used one dropped", i+1)
		}
	}
	if fieldsOf(s, "/once/0") != nil {
		t.Error("got the first unused URL kept, want it dropped")
	}
}
