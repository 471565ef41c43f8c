//go:build race

package testkit

// Detector says whether the race detector watches the test.
const Detector = true
