package purge

import "fmt"

// Options set how many marks of each kind are held exactly. They bound memory, not the number of purges. At half of a number
// the marks are to be settled. Above it the oldest marks fold, and purge more than they were for. Zero is the default.
type Options struct {
	// Tags and URLs (65,536 each; Tags once more for those of one host) and Hosts (4,096) take 2 bytes for each mark of the number, about 40 for each mark held.
	// There are four times as many marks at most.
	Tags, URLs, Hosts int
	// Prefixes (1,024) take about 100 bytes and their text each. A purge by prefix copies the list without the texts; a
	// check is a binary search in it. As many hosts of folded prefixes are held exactly.
	Prefixes int
}

const (
	defaultTags     = 1 << 16
	defaultURLs     = 1 << 16
	defaultHosts    = 1 << 12
	defaultPrefixes = 1 << 10

	// maxMarks bounds each number: a larger number is more likely a mistake.
	maxMarks = 1 << 24
)

// or returns n, or the default for 0. Other numbers panic: they are constants
// of the program or were validated with its configuration.
func or(n, byDefault int, name string) int {
	switch {
	case n == 0:
		return byDefault
	case n < 0 || n > maxMarks:
		panic(fmt.Sprintf("purge: %s is %d: must be 1 to %d, or 0 for %d", name, n, maxMarks, byDefault))
	}
	return n
}
