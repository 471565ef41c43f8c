package model

import (
	"fmt"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/trace"
)

// onDiskToo is exactSecondHit with a disk of 4 MiB, for madeUpForDisk.
func onDiskToo() Setting {
	s := exactSecondHit(200_000)
	s.DiskBytes, s.RotateRequests = minDiskBytes, 4000
	return s
}

// madeUpForDisk returns objects of several times that, a sixth of them with pages of
// their own, and requests.
func madeUpForDisk(seed uint64, requests int) ([]trace.Object, []trace.Access) {
	objects, accesses := madeUp(seed, 2500, requests)
	for i := range objects {
		objects[i].Size *= 3
		if i%6 == 0 && objects[i].Size < 6000 {
			objects[i].Size *= 25
		}
	}
	return objects, accesses
}

// Every outcome, and every byte written, must be that of the plain model.
func TestTwoTiersAgreeWithTheNaiveModel(t *testing.T) {
	objects, accesses := madeUpForDisk(11, 12_000)
	f := func(name string, change func(*Setting)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := onDiskToo()
			change(&s)
			r, n := newRun(t, s, objects), newNaiveTiers(s, objects)
			for at, a := range accesses {
				if got, want := r.Request(a), n.request(a); got != want {
					t.Fatalf("request %d, for object %d: got %v, want %v", at, a.Object, got, want)
				}
			}
			got := r.Result()
			if got.DiskWriteBytes != n.bytes || got.DiskRewrittenBytes != n.again || got.MemoryWrites != n.copies || got.Objects != int64(len(n.disk)) {
				t.Errorf("written %d, of it again %d, copies %d, held %d; want %d, %d, %d, %d",
					got.DiskWriteBytes, got.DiskRewrittenBytes, got.MemoryWrites, got.Objects, n.bytes, n.again, n.copies, len(n.disk))
			}
			again, stays := s.DiskEviction != DiskFIFO, s.DiskEviction == DiskSIEVE
			if got.Evictions == 0 || (got.DiskRewrittenBytes > 0) != again || got.MemoryWrites == 0 || (n.stays > 0) != stays {
				t.Errorf("the requests try too little: %d segments stayed, %+v", n.stays, got)
			}
			identities(t, r)
		})
	}
	f("second-hit", func(*Setting) {})
	f("always", func(s *Setting) { s.Policy = admission.Always })
	f("counting", func(s *Setting) { s.Policy, s.MoreThan, s.DiskBytes = admission.Counting, 2, minDiskBytes })
	f("with a stage", func(s *Setting) { s.StageBytes = 50_000 })
	f("counting with a stage", func(s *Setting) { s.Policy, s.MoreThan, s.StageBytes = admission.Counting, 2, 50_000 })
	f("small objects in memory", func(s *Setting) { s.MaxObjectBytes = 2000 })
	f("almost no memory", func(s *Setting) { s.CapacityBytes = 6000 })
	f("nothing is written again", func(s *Setting) { s.DiskEviction = DiskFIFO })
	f("all that was hit is written again", func(s *Setting) { s.DiskEviction = DiskHits })
}

// The counts must hold together with every memory, and the bound must be kept.
func TestIdentitiesOfTwoTiers(t *testing.T) {
	objects, accesses := madeUpForDisk(3, 6000)
	for _, e := range blindEvictions() {
		for _, p := range policy.All() {
			for _, stage := range []int64{0, 40_000} {
				t.Run(fmt.Sprintf("%s/%s/stage %d", e, p, stage), func(t *testing.T) {
					s := onDiskToo()
					s.StageBytes, s.Policy, s.MoreThan, s.Probability, s.Eviction = stage, p, 2, 0.3, e
					r := newRun(t, s, objects)
					for _, a := range accesses {
						r.Request(a)
						if d := r.storage.(*tiers).disk; d.bytes > s.DiskBytes || d.bytes < 0 {
							t.Fatalf("%d bytes on a disk of %d", d.bytes, s.DiskBytes)
						}
					}
					identities(t, r)
					if c := r.Result(); (c.DiskHits == 0) != (p == admission.Never) || (c.DiskWriteBytes == 0) != (p == admission.Never) {
						t.Errorf("disk hits and bytes: got %d and %d", c.DiskHits, c.DiskWriteBytes)
					}
				})
			}
		}
	}
}

// By worth the counts hold together as well, what is popular stays, and the same requests give the same result.
func TestADiskByWorthKeepsWhatIsPopular(t *testing.T) {
	objects, accesses := madeUpForDisk(17, 12_000)
	s := onDiskToo()
	s.DiskEviction = DiskFIFO
	fifo := play(t, s, objects, accesses)
	for _, e := range []DiskEviction{DiskWorth, DiskLogWorth} {
		s.DiskEviction = e
		r := newRun(t, s, objects)
		r.Requests(accesses)
		identities(t, r)
		got := r.Result()
		if got.Hits <= fifo.Hits || got.DiskRewrittenBytes == 0 || got != play(t, s, objects, accesses) {
			t.Errorf("%s: got %+v, want more than the %d hits of fifo, something written again, and the same in each run", e, got, fifo.Hits)
		}
	}
}

// Worth is uses by age and size, and what is above the mean of what the hand saw is in demand.
func TestDemandByWorthIsWhatIsAboveTheMean(t *testing.T) {
	objects := []trace.Object{{Size: 1000}, {Size: 1000}, {Size: 1_000_000}}
	for _, e := range []DiskEviction{DiskWorth, DiskLogWorth} {
		r := newDiskRule(e, newNodes(objects))
		r.now = 1
		for i := range objects {
			r.used(uint32(i), true)
		}
		r.now = 10
		r.used(1, false)
		for i := range objects {
			r.visit(uint32(i))
		}
		// 0 was used once, 9 look-ups ago, 1 twice, just now, and 2 is large.
		if a, b, c := r.worthOf(0), r.worthOf(1), r.worthOf(2); !(b > a && a > c) || r.demand(1) == 0 || r.demand(2) != 0 {
			t.Errorf("%s: got worths %v, %v, %v, and demands of %v and %v; want the second in demand alone", e, a, b, c, r.demand(1), r.demand(2))
		}
		r.used(1, true)
		if r.worth[1].times != 1 {
			t.Errorf("%s: got %d uses after another store, want 1", e, r.worth[1].times)
		}
	}
}

// A disk with room for everything keeps everything: each object is written once, and
// each request after that is a hit, wherever the copy is.
func TestADiskWithRoomForAllWritesEachObjectOnce(t *testing.T) {
	objects, accesses := madeUpForDisk(5, 8000)
	s := onDiskToo()
	s.Policy, s.DiskBytes = admission.Always, 4*uniqueBytes(objects)+minDiskBytes
	got := play(t, s, objects, accesses)
	asked, written, records := map[uint32]bool{}, int64(0), int64(0)
	for _, a := range accesses {
		if !a.Head && !asked[a.Object] {
			asked[a.Object] = true
			written += objects[a.Object].Size
			records += recordBytes(objects[a.Object].Size)
		}
	}
	if got.Writes != int64(len(asked)) || got.WriteBytes != written || got.DiskWriteBytes != records {
		t.Errorf("%d writes of %d bytes, %d on the disk; want %d, %d, %d", got.Writes, got.WriteBytes, got.DiskWriteBytes, len(asked), written, records)
	}
	if got.Evictions != 0 || got.DiskRewrittenBytes != 0 || got.Hits != got.Requests-got.HeadMisses-got.Writes {
		t.Errorf("want no evictions, nothing written again and hits from then on: %+v", got)
	}
	memory := s
	memory.DiskBytes, memory.CapacityBytes = 0, s.DiskBytes
	if one := play(t, memory, objects, accesses); one.Hits != got.Hits || one.HitBytes != got.HitBytes || one.Writes != got.Writes {
		t.Errorf("a memory with room for all: %d hits, %d writes; want those of the disk, %d and %d", one.Hits, one.Writes, got.Hits, got.Writes)
	}
}

func TestRecordsTakeWholeUnits(t *testing.T) {
	for body, want := range map[int64]int64{
		0: 512, 1: 576, 64: 576, 32767: 33280, 32768: 36864, 65535: 69632, 65536: 69632, 69633: 77824,
	} {
		if got := recordBytes(body); got != want {
			t.Errorf("recordBytes(%d) = %d, want %d", body, got, want)
		}
	}
}

// A hand that looks at the large records in the order of writing alone comes near the
// newest of them at times. All segments of small ones are older than these, and went.
func TestSmallRecordsDoNotGoForALargeOneThatIsYoung(t *testing.T) {
	objects, accesses := madeUpForDisk(13, 20_000)
	s := onDiskToo()
	s.Policy, s.CapacityBytes = admission.Always, 1000
	both := play(t, s, objects, accesses)
	memory := s
	memory.DiskBytes, memory.CapacityBytes = 0, s.DiskBytes
	lru := play(t, memory, objects, accesses)
	if both.HitRatio < lru.HitRatio-0.02 || both.ByteHitRatio < lru.ByteHitRatio-0.02 {
		t.Errorf("hits %.3f, byte hits %.3f; want those of exact LRU of that size, %.3f and %.3f, less 0.02 at most",
			both.HitRatio, both.ByteHitRatio, lru.HitRatio, lru.ByteHitRatio)
	}
}
