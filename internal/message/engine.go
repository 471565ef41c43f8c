package message

// Engine answers requests. It is safe for concurrent use.
type Engine interface {
	// Begin answers r, if that needs no waiting: what is a hit, or refused. Then it
	// returns nil. Otherwise it returns what goes on with r, and a is not filled.
	Begin(r *Request, a *Answer) Pending
	// Expect decides whether a client that waits for 100 (Continue) may send its content.
	// Where it may not, a is filled and complete, and Expect returns false. It may wait.
	Expect(r *Request, a *Answer) bool
}

// Pending is a request that Begin has not answered. Finish is called once, and waits for the
// origin or for others. When it returns the answer is filled.
type Pending interface{ Finish() }
