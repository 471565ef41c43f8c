package config

import "testing"

func TestDefaultCacheFitsTheMemoryOfTheCgroup(t *testing.T) {
	f := func(name, file string, memory, wantMax, wantObject Size) {
		t.Run(name, func(t *testing.T) {
			c, err := parse("f", []byte(oneOrigin+file), Flags{Memory: memory}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m := c.Cache.Memory; m.MaxBytes != wantMax || m.MaxObjectBytes != wantObject {
				t.Errorf("got %v and objects of %v, want %v and %v", m.MaxBytes, m.MaxObjectBytes, wantMax, wantObject)
			}
		})
	}
	f("no limit", "", 0, 256*MiB, 8*MiB)
	f("plenty", "", 4*GiB, 256*MiB, 8*MiB)
	f("just enough", "", 640*MiB, 256*MiB, 8*MiB)
	f("40 % in whole MiB", "", 256*MiB, 102*MiB, 8*MiB)
	f("objects go down with it", "", 64*MiB, 25*MiB, (25*MiB-25*MiB/10)/4)
	f("never below the least", "", KiB, MiB, (MiB-MiB/10)/4)
	f("given", "cache: {memory: {max_bytes: 1GiB}}", 256*MiB, GiB, 8*MiB)
	f("room for the objects that are given", "cache: {memory: {max_object_bytes: 32MiB}}", 128*MiB, 128*MiB, 32*MiB)
	f("room for the stage", "cache: {memory: {stage_bytes: 40MiB}}", 64*MiB, 80*MiB, 8*MiB)
	f("no stage", "cache: {memory: {stage_bytes: 0B}}", 64*MiB, 25*MiB, 25*MiB/4)
	f("room for slices", "cache: {slice: 4MiB}", 16*MiB, 16*MiB, 4*MiB)
	f("room for a route's slices", "routes: [{name: a, origin: web, cache: {slice: 4MiB}}]", 16*MiB, 16*MiB, 4*MiB)
	f("never above the default", "cache: {memory: {max_object_bytes: 64MiB}}", 16*MiB, 256*MiB, 64*MiB)
}

// A cache without a word about a stage has one, unless it would be of no use, or its objects need the room. A file that was
// valid without a stage is valid with it.
func TestTheStageFitsByItself(t *testing.T) {
	f := func(name, file string, memory, want Size) {
		t.Helper()
		c, err := parse("f", []byte(oneOrigin+file), Flags{Memory: memory}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m := c.Cache.Memory
		if got := c.Stage(); got != want || 4*m.MaxObjectBytes > m.MaxBytes-got {
			t.Errorf("%s: got a stage of %v in %v with objects of %v, want %v", name, got, m.MaxBytes, m.MaxObjectBytes, want)
		}
	}
	f("nothing said", "", 0, 256*MiB/10)
	f("auto", "cache: {memory: {max_bytes: 100MiB, stage_bytes: auto}}", 0, 10*MiB)
	f("none", "cache: {memory: {stage_bytes: 0B}}", 0, 0)
	f("given", "cache: {memory: {stage_bytes: 3MiB}}", 0, 3*MiB)
	f("a cache of four objects", "cache: {memory: {max_bytes: 32MiB}}", 0, 0)
	f("a little more", "cache: {memory: {max_bytes: 33MiB}}", 0, MiB)
	f("as large as its objects allow", "cache: {memory: {max_bytes: 1MiB, max_object_bytes: 256KiB}}", 0, 0)
	f("the smallest cache", "cache: {memory: {max_bytes: 1MiB, max_object_bytes: 1KiB}}", 0, MiB/10)
	f("a small cgroup", "", 64*MiB, 25*MiB/10)
	f("a small cgroup and slices", "cache: {slice: 6MiB}", 64*MiB, MiB)
	f("always", "admission: {policy: always}", 0, 0)
	f("never", "admission: {policy: never}", 0, 0)
	f("chance", "admission: {policy: chance}", 0, 256*MiB/10)
	f("one of the routes", "admission: {policy: always}\nroutes: [{name: a, origin: web, admission: {policy: counting}}]", 0, 256*MiB/10)
	f("a disk", "cache: {disk: {path: /x}}", 0, 256*MiB/10)
}

// TestCacheOfACgroupIsPrinted: what is in force is printed as it is here, and means the same
// where there is no limit.
func TestCacheOfACgroupIsPrinted(t *testing.T) {
	c, err := FromFlags(Flags{Origin: "http://h", Memory: 64 * MiB})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Effective()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("printed", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Cache.Memory; got != c.Cache.Memory {
		t.Errorf("got %+v, want %+v", got, c.Cache.Memory)
	}
}
