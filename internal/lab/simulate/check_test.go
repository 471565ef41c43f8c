package simulate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/model"
)

// What needs no log to be known wrong must not wait for one to be read.
func TestCheckFindsWhatIsWrongWhateverTheLogIs(t *testing.T) {
	f := func(want string, g Grid) {
		t.Helper()
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", g, err, want)
		}
	}
	always, second := []admission.Policy{admission.Always, admission.Never}, []admission.Policy{admission.SecondHit}
	ristretto := []model.Eviction{model.LRU, model.Ristretto}
	f("more-than 3: must be counting among the policies", Grid{Policies: second, Parameters: Parameters{"counting": {3}}})
	f("false-positive-rate 0.02: must be without --exact", Grid{Exact: true, FalsePositiveRates: []float64{0.02}})
	f("rotation 4c keys: must be second-hit or counting", Grid{Policies: always, Rotations: []Rotation{{Unit: ByKeys, PerCached: 4}}})
	f("generations 3: must be second-hit or counting", Grid{Policies: always, Generations: []int{3}})
	f("false-positive-rate 0.02: must be second-hit or counting", Grid{Policies: always, FalsePositiveRates: []float64{0.02}})
	f("exact true: must be second-hit or counting", Grid{Policies: always, Exact: true})
	f("stage 10%: must be second-hit, counting or chance", Grid{Policies: always, Stages: []Amount{{Percent: 10}}})
	f("stage auto: must be second-hit, counting or chance", Grid{Policies: always, Stages: []Amount{{Auto: true}}})
	f("stage 2.0 KiB: must be second-hit, counting or chance", Grid{Policies: always, Stages: []Amount{{Bytes: 2048}}})
	f("rotation never: must be a rotation", Grid{Rotations: []Rotation{{}}})
	f("grid of 673 settings", Grid{Generations: []int{2, 3, 4}, FalsePositiveRates: make([]float64, 28)})
	f("false_positive_rate: 1e-300: must be at least", Grid{FalsePositiveRates: []float64{1e-300}})
	f("stage 1.0 KiB: must be at most half of the capacity", Grid{Capacities: []Amount{{Percent: 5}, {Bytes: 2000}}, Stages: []Amount{{Bytes: 1024}}})
	f("capacity: 65535 bytes: must be at least 65536 bytes under ristretto", Grid{Capacities: []Amount{{Bytes: 65535}}, Evictions: ristretto})
	f("disk: 4194303 bytes: must be at least 4194304 bytes", Grid{Disks: []Amount{{}, {Bytes: 4<<20 - 1}}})
	f("max-object 25001 bytes: must be at most 25000 bytes, a quarter of the capacity without the stage, as the proxy",
		Grid{Capacities: []Amount{{Bytes: 100_000}}, MaxObjects: []int64{25_001}, Evictions: ristretto})
}

func TestCheckPassesWhatOnlyALogCanTell(t *testing.T) {
	f := func(g Grid) {
		t.Helper()
		if err := g.Check(); err != nil {
			t.Errorf("%+v: got %v, want none", g, err)
		}
	}
	f(Grid{})
	f(Grid{Exact: true})
	f(everything())
	f(Grid{Disks: []Amount{{Percent: 0.001}}})
	f(Grid{Rotations: []Rotation{{Unit: ByTime, Every: time.Hour}}})
	f(Grid{Policies: []admission.Policy{admission.Always}, Stages: []Amount{{}}})
	f(Grid{Capacities: []Amount{{Percent: 0.001}}, Stages: []Amount{{Bytes: 1 << 40}}})
	f(Grid{Capacities: []Amount{{Percent: 5}}, MaxObjects: []int64{1 << 40}, Evictions: []model.Eviction{model.Ristretto}})
}

// With the log known, and before it is replayed, the rest is found too.
func TestGridIsCheckedBeforeTheReplay(t *testing.T) {
	tr := tiny(t)
	replays := 0
	_, err := Run(t.Context(), tr, Grid{Capacities: []Amount{{Percent: 5}}, Evictions: []model.Eviction{model.Ristretto}}, Options{
		Workers: 1, Clock: ticks(), Progress: func(int64, int64) { replays++ },
	})
	if err == nil || !strings.Contains(err.Error(), "capacity: 53250 bytes: must be at least 65536 bytes under ristretto") || replays > 0 {
		t.Errorf("got %v after %d steps, want the fault of the capacity before the first", err, replays)
	}
	if _, ok := errors.AsType[*GridError](err); ok {
		t.Errorf("got %v as a GridError, want the model's", err)
	}
}
