//go:build soak

package main

import "testing"

// TestMillionKeys asks for a million distinct keys, which takes most of a minute:
// make soak-keys. A build tag keeps it out of the usual run, where a skipped test is
// a failed one.
func TestMillionKeys(t *testing.T) {
	t.Parallel()
	peakBelowLimit(t, manyKeys(t, 1_000_000, 10))
}
