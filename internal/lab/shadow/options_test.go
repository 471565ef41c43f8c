package shadow

import (
	"errors"
	"strings"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
)

func TestNewNamesEveryFault(t *testing.T) {
	f := func(name string, change func(*Options), wants ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			o := options(1000, always)
			change(&o)
			_, err := New(o, begin)
			if _, ok := errors.AsType[*bloom.OptionError](err); !ok {
				t.Fatalf("got %v, want an *bloom.OptionError in it", err)
			}
			for _, want := range wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
	f("sizes and none to try", func(o *Options) {
		o.CapacityBytes, o.MaxObjectBytes, o.Rules = 0, 0, nil
	}, "capacity: 0", "max_object: 0", "policies: 0")
	f("too many", func(o *Options) { o.Rules = make([]admission.Rule, 9) }, "policies: 9")
	f("twice the same", func(o *Options) { o.Rules = []admission.Rule{moreThan2, moreThan2} }, "policies: counting-2")
	f("an unknown policy", func(o *Options) { o.Rules[0].Policy = 77 }, "policy: ")
	f("no window", func(o *Options) {
		o.Rules = []admission.Rule{secondHit, moreThan2}
		o.SecondHit, o.Counting = admission.FilterOptions{}, admission.FilterOptions{}
	}, "second_hit window", "counting window", "generations", "false_positive_rate")
	f("more than a counter can tell", func(o *Options) {
		o.Rules = []admission.Rule{{Policy: admission.Counting, MoreThan: 15}}
	}, "more_than: 15")
	f("share", func(o *Options) { o.Share = 0.3 }, "share: 0.3")
	f("share above 1", func(o *Options) { o.Share = 2 }, "share: 2")
}

// The slice is as small as it may be for a miniature that tells something.
func TestShareFollowsTheCapacity(t *testing.T) {
	f := func(capacity, largest int64, want float64) {
		t.Helper()
		o := options(1000, always)
		o.CapacityBytes, o.MaxObjectBytes, o.Share = capacity, largest, 0
		if got := newShadow(t, o).Share(); got != want {
			t.Errorf("%d bytes, objects of up to %d: got share %v, want %v", capacity, largest, got, want)
		}
	}
	f(64<<10, 16<<10, 1)
	f(63<<20, 1<<20, 1)
	f(64<<20, 1<<20, 1.0/2)
	f(256<<20, 8<<20, 1.0/8)
	f(256<<20, 64<<20, 1)
	f(2<<30, 8<<20, 1.0/64)
	f(1<<40, 1<<20, 1.0/32768)
	f(1<<50, 1<<20, 1.0/65536)
	f(1<<40, 1<<30, 1.0/256)
}
