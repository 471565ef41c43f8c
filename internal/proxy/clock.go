package proxy

import "time"

// now reads the clock: when a request is recorded, for the deadlines of bodies,
// and for what happens behind them. Nothing else in this room
// reads it; what depends on time takes the time of receipt.
func now() time.Time { return time.Now() }

// pause waits. Only who paces himself calls it: see syncPacer.
func pause(d time.Duration) { time.Sleep(d) }
