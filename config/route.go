package config

import "time"

// Route sends the requests it matches to an origin.
type Route struct {
	Name   string // unique; the metric label
	Match  Match
	Origin string // the Name of one of Config.Origins; "" where the route answers itself

	ConnectTimeout, FirstByteTimeout, IdleTimeout time.Duration // 0 is that of the origin

	TotalTimeout time.Duration // of a whole exchange with the origin; 0 is any time

	Rewrite  Rewrite
	Redirect Redirect
	Respond  Respond
	Access   Access

	ErrorPages      map[string]string // files by status, such as 404, or by class: 4xx, 5xx. Others read them
	InterceptErrors bool              // for errors of the origin, too

	// Admission is in force as it stands: what the route does not say has been
	// taken from Config.Admission.
	Admission Rule

	// Cache is in force as it stands, like Admission.
	Cache Caching

	// AllowAmbiguousPath lets responses be stored whose target holds an encoded
	// slash, backslash or NUL, a dot segment or an empty segment.
	AllowAmbiguousPath bool

	// Rate is in force as it stands, like Admission.
	Rate Rate

	Headers Headers

	// AccessLog is in force as it stands, like Admission.
	AccessLog RouteLog

	// UnusualNames lets request fields through whose names have other than letters, digits
	// and hyphens in them.
	UnusualNames bool

	own      Rule    // what the route says itself; zero values are not said
	ownCache Caching // the same; the source knows what is said
	ownRate  Rate    // likewise
	ownLog   RouteLog
}
