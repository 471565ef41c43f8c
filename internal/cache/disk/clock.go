package disk

import "time"

// clock reads the time.
func clock() time.Time { return time.Now() }
