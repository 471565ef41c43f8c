package testkit

import "sync"

// numbered is the longest text that Numbered has made so far.
var numbered struct {
	mu   sync.Mutex
	text string
}

// Numbered is a text of size bytes, less than 100,000,000, that says every eight bytes where it is, so that bytes from
// another place are seen to be others. Texts share their memory.
func Numbered(size int) string {
	numbered.mu.Lock()
	defer numbered.mu.Unlock()
	if len(numbered.text) < size {
		text := make([]byte, 0, size+8)
		for at := [8]byte([]byte("00000000")); len(text) < size; {
			text = append(text, at[:]...)
			add8(&at)
		}
		numbered.text = string(text)
	}
	return numbered.text[:size]
}

// add8 adds eight to a decimal number.
func add8(number *[8]byte) {
	last := len(number) - 1
	number[last] += 8
	for i := last; number[i] > '9'; i-- {
		number[i] -= 10
		number[i-1]++
	}
}
