package basicauth

import "time"

// now is when a try is counted.
func now() time.Time { return time.Now() }
