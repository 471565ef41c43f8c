package testkit

import "testing"

// H2spec returns h2spec, the public suite for servers of HTTP/2, of those in tools/go.mod.
func H2spec(tb testing.TB) (program string) {
	tb.Helper()
	return tool(tb, "h2spec")
}
