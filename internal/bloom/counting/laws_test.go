package counting

import (
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
	"edgeproxy/internal/test/testkit"
)

func TestFilterKeepsTheLaws(t *testing.T) { bloomtest.Run(t, family()) }

func TestFilterKeepsTheRates(t *testing.T) {
	testkit.Plain(t, "a million queries of one goroutine")
	bloomtest.Rates(t, family())
}

func FuzzLoad(f *testing.F) { bloomtest.FuzzLoad(f, family()) }

func TestALimitThatMovesALittleKeepsTheMemory(t *testing.T) {
	o := bloomtest.Options(2, 100_000, 1e-6)
	o.Resizable = true
	f, err := New(o, start)
	if err != nil {
		t.Fatal(err)
	}
	oldest := f.ring.Held()[1]
	f.SetLimit(70_000)
	f.Rotate(start, bloom.CauseFitted)
	if f.ring.Held()[0] != oldest {
		t.Error("got other memory, want what there was")
	}
}
