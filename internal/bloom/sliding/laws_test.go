package sliding

import (
	"testing"

	"edgeproxy/internal/bloom/bloomtest"
)

func TestFilterKeepsTheLaws(t *testing.T) { bloomtest.Run(t, family()) }

func FuzzLoad(f *testing.F) { bloomtest.FuzzLoad(f, family()) }
