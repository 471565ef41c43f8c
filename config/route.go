package config

import "time"

// Route sends the requests it matches to an origin.
type Route struct {
	Name   string // unique; the metric label
	Match  Match
	Origin string // the Name of one of Config.Origins; "" where the route answers itself

	ConnectTimeout, FirstByteTimeout, IdleTimeout time.Duration // 0 is that of the origin

	Inherited

	Rewrite  Rewrite
	Redirect Redirect
	Respond  Respond

	// Admission is in force as it stands: what the route does not say has been
	// taken from Config.Admission.
	Admission Rule

	// Cache is in force as it stands, like Admission.
	Cache Caching

	// Compress is in force as it stands, like Admission.
	Compress Compress

	// Rate is in force as it stands, like Admission.
	Rate Rate

	// AccessLog is in force as it stands, like Admission.
	AccessLog RouteLog

	ownRule  Rule    // what the route says itself; zero values are not said
	ownCache Caching // the same; the source knows what is said
	ownRate  Rate    // likewise
	ownLog   RouteLog

	ownInherited Inherited
	ownCompress  Compress
}
