package spans

import "time"

// now reads the clock, to limit how often failures are reported. The times of spans come from the caller.
func now() time.Time { return time.Now() }
