package setting

// Log says which requests of a route have a line in the access log.
type Log struct {
	Enabled bool    // false: none has
	Sample  float64 // the share that has one, chosen at random; 0 to 1
}
