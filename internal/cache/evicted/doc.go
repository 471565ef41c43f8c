// Package evicted answers: how large was what a tier has evicted, and was it hit before?
//
// A tier notes each eviction in a Counter, and reads the Counts of all. There is a row for each class of sizes, so the rows
// add up to all evictions. It knows no cause of an eviction, and nothing that left for another reason.
package evicted
