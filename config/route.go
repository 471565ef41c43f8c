package config

import "time"

// Route sends the requests it matches to an origin.
type Route struct {
	Name   string // unique; the metric label
	Match  Match
	Origin string // the Name of one of Config.Origins; "" if the route has redirect or respond

	ConnectTimeout, FirstByteTimeout, IdleTimeout time.Duration // 0 uses the origin's setting

	Inherited

	Rewrite  Rewrite
	Redirect Redirect
	Respond  Respond

	// These are in force: what the route's section leaves out has the value for all routes.
	Admission Rule
	Cache     Caching
	Compress  Compress
	Rate      Rate
	AccessLog RouteLog
	ownRule   Rule    // what the route says itself; zero values are not said
	ownCache  Caching // the same; the source knows what is said
	ownRate   Rate    // likewise
	ownLog    RouteLog

	ownInherited Inherited
	ownCompress  Compress
}
