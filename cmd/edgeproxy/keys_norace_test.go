//go:build !race

package main

import "testing"

// TestManyKeysLeaveMemoryBounded is the short form of TestMillionKeys. The program is the same
// under the race detector, but the collector may come late on a machine that is so busy.
func TestManyKeysLeaveMemoryBounded(t *testing.T) { manyKeys(t, 100_000, 2) }
