package purge

import "fmt"

// Options say how many marks of each kind are told apart. They bound memory, not
// what may be purged: half of them is when they are to be settled, and with more
// than all the oldest purge more than they were for.
// Zero is the default.
type Options struct {
	// Tags and URLs (65,536 each) and Hosts (4,096) take 2 bytes for each mark that
	// may come, about 40 for each that has, and four times as many marks at most.
	Tags, URLs, Hosts int
	// Prefixes (1,024) take about 100 bytes and their text each. A purge by prefix
	// copies the list without the text, a check costs a binary search in it. As many
	// hosts of prefixes that had to go are told apart.
	Prefixes int
}

const (
	defaultTags     = 1 << 16
	defaultURLs     = 1 << 16
	defaultHosts    = 1 << 12
	defaultPrefixes = 1 << 10

	// maxMarks bounds each number: beyond it, a mistake is likelier than a need.
	maxMarks = 1 << 24
)

// or returns n, or the default for 0. Other numbers panic: they are constants
// of the program or were validated with its configuration.
func or(n, byDefault int, name string) int {
	switch {
	case n == 0:
		return byDefault
	case n < 0 || n > maxMarks:
		panic(fmt.Sprintf("purge: %s is %d: want 1 to %d, or 0 for %d", name, n, maxMarks, byDefault))
	}
	return n
}
