//go:build race

package bloomtest

// rateLaws are tried without the race detector alone: see rates.go.
func rateLaws() []law { return nil }
