package config

import (
	"time"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/route/template"
)

// Route sends the requests it matches to an origin.
type Route struct {
	Name   string        // unique; the metric label
	Match  routing.Match // there is at least one host, and one prefix
	Origin string        // the Name of one of Config.Origins; "" if the route has redirect or respond

	ConnectTimeout, FirstByteTimeout, IdleTimeout time.Duration // 0 uses the origin's row

	Inherited

	Rewrite  rewrite.Options
	Redirect Redirect
	Respond  Respond

	// These are in force: what the route's section leaves out has the value for all routes.
	Admission policy.Rule
	Cache     setting.Caching
	Compress  setting.Compress
	Rate      rate.Limit
	AccessLog setting.Log
	ownRule   policy.Rule     // what the route says itself; policy.Unset and 0 are not said
	ownCache  setting.Caching // the same; the source knows what is said
	ownRate   rate.Limit      // likewise
	ownLog    setting.Log

	path  string   // where it stands in the file
	lifts []string // keys of access of the route around it that it lifts

	ownInherited Inherited
	ownCompress  setting.Compress

	// validate makes these of what is in force.
	headerRules  HeaderRules
	location     template.Location
	answerFields fieldrules.Rules
}
