package testkit

import (
	"fmt"
	"strings"
	"testing"
)

func TestNumberedSaysWhereItIs(t *testing.T) {
	var want strings.Builder
	for want.Len() < 100_000 {
		fmt.Fprintf(&want, "%08d", want.Len())
	}
	for _, size := range []int{0, 1, 8, 13, 100_000, 1001} {
		if Numbered(size) != want.String()[:size] {
			t.Errorf("%d bytes: got %.40q", size, Numbered(size))
		}
	}
}
