//go:build !race

package disk

// killStride is how many calls TestAKillAtEachCall goes on by.
const killStride = 1
