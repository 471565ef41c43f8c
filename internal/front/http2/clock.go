package http2

import "time"

// now reads the clock. Nothing else in this room does.
func now() time.Time { return time.Now() }

// until returns how long it is until t.
func until(t time.Time) time.Duration { return time.Until(t) }
