package proxy

import "testing"

// A body of 2.1 KiB took a room of 16 KiB, which a client that does not read keeps.
func TestABodyBufferIsAtMostTwiceTheBody(t *testing.T) {
	for n := int64(1); n <= leastPooled<<pooledSizes; n++ {
		b := acquireBody(n)
		if got := int64(len(*b)); got < n || got > max(2*n, leastPooled) {
			t.Fatalf("%d bytes: got a room of %d", n, got)
		}
		releaseBody(b)
	}
}
