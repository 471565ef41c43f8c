//go:build race

package http2

// racing says that the race detector is on.
const racing = true
