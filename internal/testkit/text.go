package testkit

import (
	"fmt"
	"strings"
)

// Numbered is a text of size bytes that says every eight bytes where it is, so that bytes from
// another place are seen to be others.
func Numbered(size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%08d", b.Len())
	}
	return b.String()[:size]
}
