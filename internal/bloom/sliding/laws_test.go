package sliding

import (
	"testing"

	"edgeproxy/internal/bloom/internal/bloomtest"
	"edgeproxy/internal/test/testkit"
)

func TestFilterKeepsTheLaws(t *testing.T) { bloomtest.Run(t, family()) }

func TestFilterKeepsTheRates(t *testing.T) {
	testkit.Plain(t, "a million queries of one goroutine")
	bloomtest.Rates(t, family())
}

func FuzzLoad(f *testing.F) { bloomtest.FuzzLoad(f, family()) }
