package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// origin makes a recommendation a whole file.
const origin = "origins: {app: {servers: [\"http://127.0.0.1:9000\"]}}\n"

// parsed reads a recommendation as the proxy would.
func parsed(t *testing.T, yaml string) *config.Config {
	t.Helper()
	c, err := config.Parse("recommended.yaml", []byte(origin+yaml))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, yaml)
	}
	return c
}

// Every setting of the grid, not only the one that happens to be recommended,
// must be one that the proxy takes, and mean the same there.
func TestEverySettingIsAConfigurationThatTheProxyTakes(t *testing.T) {
	testkit.Plain(t, "hundreds of files are read, one behind another")
	minute := Rotation{Unit: ByTime, Every: time.Minute}
	f := func(name string, g Grid) {
		t.Helper()
		r := replayed(t, tiny(t), g)
		for i := range r.Groups {
			gr := &r.Groups[i]
			for j := range gr.Results {
				res := &gr.Results[j]
				yaml := r.yaml(gr, res)
				c := parsed(t, yaml)
				if got := c.Admission.Policy.String(); got != res.Policy {
					t.Errorf("%s: got policy %s, want %s", name, got, res.Policy)
				}
				m := c.Cache.Memory
				if int64(m.MaxBytes) != max(gr.CapacityBytes, 1<<20) || int64(c.Stage()) != stageBytes(res) {
					t.Errorf("%s: got %d bytes with a stage of %d, want %d and %d", name, m.MaxBytes, c.Stage(), gr.CapacityBytes, res.StageBytes)
				}
				switch res.Policy {
				case "second-hit":
					checkWindow(t, name, c.Admission.SecondHit, res)
				case "counting":
					checkWindow(t, name, c.Admission.Counting.Window, res)
					if c.Admission.Counting.MoreThan != res.MoreThan {
						t.Errorf("%s: got more_than %d, want %d", name, c.Admission.Counting.MoreThan, res.MoreThan)
					}
				}
			}
		}
	}
	all := []admission.Policy{admission.Always, admission.SecondHit, admission.Counting, admission.Never}
	f("filters", Grid{
		Policies: all, Parameters: Parameters{"counting": {1, 14}}, Capacities: []Amount{{Bytes: 300_000}, {Bytes: 3 << 20}, {Bytes: 64 << 20}},
		Rotations:   []Rotation{minute, {Unit: ByRequests, Count: 150}, {Unit: ByKeys, PerCached: 1.5}, {Unit: Fitted}, {Unit: Fitted, Every: time.Minute}},
		Generations: []int{2, 4}[:testkit.Times(2, 1)], FalsePositiveRates: []float64{0.5, 0.0001}[:testkit.Times(2, 1)], Stages: []Amount{{}, {Percent: 50}},
	})
	f("sets", Grid{Policies: all, Exact: true, Rotations: []Rotation{minute, {}, {Unit: ByKeys, Count: 150}}})
	f("a stage that is too small", Grid{Policies: all[1:3], Capacities: []Amount{{Bytes: 300_000}}, Stages: []Amount{{Bytes: 1}, {Bytes: 4095}, {Bytes: 4097}}})
	f("a window that this log never fills", Grid{Policies: all[1:3], Rotations: []Rotation{{Unit: ByKeys, Count: 1e9}}})
	f("object limits", Grid{Policies: all, MaxObjects: []int64{1, 5000, 1 << 40}, Capacities: []Amount{{Percent: 100}}, Evictions: []model.Eviction{model.LRU, model.S3FIFO}})
}

func checkWindow(t *testing.T, name string, got admission.FilterOptions, res *Result) {
	t.Helper()
	want := admission.FilterOptions{Options: bloom.Options{Generations: max(res.Generations, 2), Capacity: res.keys, FalsePositiveRate: res.FalsePositiveRate}}
	if res.rotation.Unit == Fitted {
		want.Fitted, want.Capacity = true, 0
	}
	if res.rotation.Every > 0 {
		want.RotateEvery = res.rotation.Every
	}
	if res.FalsePositiveRate == 0 {
		want.FalsePositiveRate = 0.01
	}
	if got != want {
		t.Errorf("%s, %s: got %+v, want %+v", name, res.describe(), got, want)
	}
}

func TestObjectLimitIsWhatWasSimulatedAndTheProxyTakes(t *testing.T) {
	const mib = 1 << 20
	f := func(capacity, stage, limit, want int64) {
		t.Helper()
		simulated := largestObject(capacity, stage, limit, model.LRU)
		got := objectLimit(&Result{CapacityBytes: capacity, StageBytes: stage, MaxObjectBytes: simulated})
		if got != want || limit == 0 && simulated != want {
			t.Errorf("capacity %d, stage %d, limit %d: got %d, and %d simulated, want %d", capacity, stage, limit, got, simulated, want)
		}
	}
	f(100*mib, 0, 0, 8*mib)        // the proxy's default
	f(28*mib, 0, 0, 7*mib)         // which is no more than a quarter
	f(28*mib, 4*mib, 0, 6*mib)     // a quarter of the main part
	f(100*mib, 0, 3*mib, 3*mib)    // what was asked for
	f(100*mib, 0, 50*mib, 25*mib)  // within what the proxy takes
	f(1000, 0, 0, 250)             // a cache below the least size has the limit of its own
	f(3, 0, 0, 1)                  // and one that is next to nothing has some
	f(100*mib, 20*mib, 0, 8*mib)   // a quarter that does not matter
	f(100*mib, 0, 300*mib, 25*mib) // more than there is
}

// The limit of the recommended lines is the one that the figures are about, for
// every setting: it used to be a quarter there and the capacity in the figures.
func TestEverySettingHasTheObjectLimitOfItsLines(t *testing.T) {
	r := replayed(t, tiny(t), Grid{Capacities: []Amount{{Bytes: 4 << 20}, {Bytes: 64 << 20}}})
	for i := range r.Groups {
		for j := range r.Groups[i].Results {
			res := &r.Groups[i].Results[j]
			m := parsed(t, r.yaml(&r.Groups[i], res)).Cache.Memory
			if int64(m.MaxObjectBytes) != res.MaxObjectBytes || res.MaxObjectBytes != min(8<<20, (res.CapacityBytes-res.StageBytes)/4) {
				t.Errorf("%s: got %d simulated and %d in the lines", res.describe(), res.MaxObjectBytes, m.MaxObjectBytes)
			}
		}
	}
}

func TestADiskIsInTheLines(t *testing.T) {
	f := func(g Group, want config.Disk) {
		t.Helper()
		g.CapacityBytes = 64 << 20
		got := parsed(t, (&Report{}).yaml(&g, &Result{Policy: "second-hit", CapacityBytes: g.CapacityBytes, MaxObjectBytes: 1 << 20})).Cache.Disk
		if len(got.Paths) != min(1, int(g.DiskBytes)) || got.MaxBytes != want.MaxBytes || got.MaxObjectBytes != want.MaxObjectBytes {
			t.Errorf("%d: got %+v, want %+v", g.DiskBytes, got, want)
		}
	}
	f(Group{DiskBytes: 20 << 30, DiskObject: 1 << 30}, config.Disk{MaxBytes: 20 << 30, MaxObjectBytes: 1 << 30})
	f(Group{DiskBytes: 4 << 20, DiskObject: 512 << 10}, config.Disk{MaxBytes: 4 << 20, MaxObjectBytes: 512 << 10})
	f(Group{}, config.Disk{MaxBytes: 10 << 30, MaxObjectBytes: 1 << 30})
}

func TestRemarksSayWhereTheProxyDiffers(t *testing.T) {
	f := func(name string, g Group, res Result, want, unwanted string) {
		t.Helper()
		r := &Report{largest: 900_000, Span: 10 * time.Hour, Trace: trace.Facts{Objects: 190}}
		g.Eviction, res.Policy, res.CapacityBytes = "ristretto", "second-hit", g.CapacityBytes
		got := strings.Join(r.remarks(&g, &res), "\n")
		if want != "" && !strings.Contains(got, want) || unwanted != "" && strings.Contains(got, unwanted) {
			t.Errorf("%s: got\n%s\nwant %q, not %q", name, got, want, unwanted)
		}
	}
	large := Group{CapacityBytes: 64 << 20}
	window := func(r Rotation, rounds int64) Result {
		return Result{windowed: true, rotation: r, keys: 1234, meanKeys: 1230, rotations: rounds}
	}
	f("keys", large, window(Rotation{Unit: ByKeys, Count: 1234}, 0), "a generation of 1,234 keys", "on average")
	f("keys, with times", large, window(Rotation{Unit: ByKeys, Count: 1234}, 20), "lasted 30m on average", "")
	f("more keys than the log has", large, window(Rotation{Unit: ByKeys, Count: 5000, unreached: true}, 0),
		"the log has 190 keys, too few to fill a generation of 5,000 keys even once", "rotates when it is full")
	dear := window(Rotation{Unit: ByKeys, Count: 1234}, 0)
	dear.filterBytes = 64 << 20
	f("a filter of a usual size", large, dear, "", "of memory")
	dear.filterBytes++
	f("a filter that is dear", large, dear, "A filter of that many keys takes 64 MiB of memory", "")
	dear.filterBytes = model.NoFilter
	f("a filter that cannot be", large, dear, "edgeproxy builds no filter of that many keys", "of memory")
	f("a stage that is too small", large, Result{StageBytes: 4095}, "stage_bytes: 4,095 bytes were simulated; edgeproxy takes no less than 4 KiB", "")
	f("time", large, window(Rotation{Unit: ByTime, Every: time.Hour}, 9), "room for the busiest 1h of the log", "on average")
	f("requests", large, window(Rotation{Unit: ByRequests, Count: 5000}, 0), "5,000 of them held 1,230 keys on average", "")
	f("requests, how to see it", large, window(Rotation{Unit: ByRequests, Count: 5000}, 0), "--rotate-keys 1234", "")
	f("never", large, window(Rotation{}, 0), "edgeproxy always forgets; 1,234 keys", "")
	f("sets", large, Result{windowed: true, keys: 100, Exact: true}, "Sets were simulated", "")
	f("no window, nothing that differs", large, Result{}, "", "e")
	f("a small cache", Group{CapacityBytes: 1000}, Result{MaxObjectBytes: 250}, "no less than 1 MiB", "max_object_bytes")
	f("large objects", Group{CapacityBytes: 2 << 20}, Result{MaxObjectBytes: 2 << 20}, "objects up to 879 KiB were stored", "")
	f("a disk", Group{CapacityBytes: 64 << 20, DiskBytes: 10 << 30, DiskObject: 1 << 30}, Result{}, "a directory of your own choice, on a file system with room for 10 GiB", "max_object_bytes")
	r := &Report{}
	for _, e := range []string{"lru", "s3fifo"} {
		if got := fmt.Sprint(r.remarks(&Group{CapacityBytes: 2 << 20, Eviction: e}, &Result{})); !strings.Contains(got, "Eviction was "+e) {
			t.Errorf("%s: got %q, want it to be said", e, got)
		}
	}
}

// The stage auto is the one that the proxy has with the recommended lines if they say nothing of it.
func TestTheStageAutoIsThatOfTheProxy(t *testing.T) {
	const mib = 1 << 20
	for _, limit := range []int64{0, mib / 8} {
		r := replayed(t, tiny(t), Grid{
			Capacities: []Amount{{Bytes: mib}, {Bytes: 25 * mib}, {Bytes: 33 * mib}, {Bytes: 64 * mib}}, MaxObjects: []int64{limit}, Evictions: lru(),
		})
		for i := range r.Groups {
			res := &r.Groups[i].Results[1]
			lines := r.yaml(&r.Groups[i], res)
			without := slices.DeleteFunc(strings.Split(lines, "\n"), func(line string) bool { return strings.Contains(line, "stage_bytes: ") })
			if got := int64(parsed(t, strings.Join(without, "\n")).Stage()); got != res.StageBytes || got != res.CapacityBytes/10 {
				t.Errorf("%d bytes, objects up to %d: got %d bytes simulated, and %d in the proxy, want a tenth", res.CapacityBytes, res.MaxObjectBytes, res.StageBytes, got)
			}
		}
	}
	// Where the largest object needs the room there is less.
	r := replayed(t, tiny(t), Grid{Capacities: []Amount{{Bytes: 4 * mib}}, MaxObjects: []int64{mib - mib/40}, Evictions: lru()})
	res := &r.Groups[0].Results[1]
	if want := int64(4*mib - 4*(mib-mib/40)); res.StageBytes != want || int64(parsed(t, r.yaml(&r.Groups[0], res)).Stage()) != want {
		t.Errorf("got a stage of %d bytes, want the %d that are left", res.StageBytes, want)
	}
}
