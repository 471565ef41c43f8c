// Package statusclass counts by classes of status codes (RFC 9110 section 15): one word serves in /status and as label of metrics.
package statusclass

// Class is the first digit of a status code. The zero value, None, is that there was no answer, or one whose code is in no class.
type Class uint8

// The classes that are spoken of by name.
const (
	None        Class = 0
	Success     Class = 2
	ServerError Class = 5

	// Count is how many classes there are, None included.
	Count = 6
)

var words = [Count]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Of returns the class of a status code; 0 is that there was no answer. A code above 599 is of no class, and taken for a server
// error (RFC 9110 section 15).
func Of(status int) Class {
	if status < 100 {
		return None
	}
	return Class(min(status/100, int(ServerError))) //nolint:gosec // 1 to 5
}

// String returns the word for c: none, 1xx, 2xx, 3xx, 4xx or 5xx.
func (c Class) String() string { return words[c] }

// Counts are counts by class.
type Counts [Count]int64

// Map returns the counts by the words of their classes, with those that are 0.
func (c *Counts) Map() map[string]int64 {
	out := make(map[string]int64, Count)
	for class, n := range c {
		out[words[class]] = n
	}
	return out
}

// All returns the sum over the classes.
func (c *Counts) All() (n int64) {
	for _, in := range c {
		n += in
	}
	return n
}

// Failed returns how many had no answer or a server error.
func (c *Counts) Failed() int64 { return c[None] + c[ServerError] }

// Since returns what has come to c since before. Where the counts have begun anew in between, that is all of c.
func (c Counts) Since(before Counts) Counts {
	out := c
	for class := range out {
		if out[class] -= before[class]; out[class] < 0 {
			return c
		}
	}
	return out
}
