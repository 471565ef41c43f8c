package message

// Engine answers requests. It is safe for concurrent use.
type Engine interface {
	// Begin answers r if that needs no waiting: r is a hit, or is refused. Then it
	// fills a and returns nil. Otherwise it does not fill a, and returns the
	// Pending whose Finish continues with r.
	Begin(r *Request, a *Answer) Pending
	// Expect decides whether a client that waits for 100 (Continue) may send its content.
	// If not, Expect fills a and returns false. It may wait.
	Expect(r *Request, a *Answer) bool
}

// Pending is a request that Begin has not answered. Finish is called once. It may wait for
// the origin or for other requests. When it returns, the answer is complete.
type Pending interface{ Finish() }
