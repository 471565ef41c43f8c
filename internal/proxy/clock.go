package proxy

import "time"

// now reads the clock: once when a request is received, once when it is
// recorded, and for the deadlines of bodies. Nothing else in this room does;
// what depends on time takes the time of receipt.
func now() time.Time { return time.Now() }
