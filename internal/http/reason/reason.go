// Package reason is the closed list of words that say why a response was not
// stored, or not served from the cache.
//
// One word serves as code, log value, metric label, Cache-Status detail, test
// and document. A new outcome is a new line here.
package reason

// Reason is one word of the list. The zero value, None, says that there is
// nothing to explain.
type Reason uint8

// The reasons, by who gives them.
const (
	None Reason = iota

	// Admission: the response is held back.

	FirstSighting   // second-hit: no sighting within the window before this one
	TooFewSightings // counting: not more than more_than sightings
	NotDrawn        // chance: the lot fell against it
	Outweighed      // what would have to leave the memory for it is worth more
	AdmissionDenies // policy never

	// Caching rules (RFC 9111): the response may not be stored.

	NoStore
	Private
	NoCache
	Authorization
	SetCookie
	VaryStar
	VaryLimit // the URL varies by too many lists of names, or by too many names in all
	NoFreshness
	RequestCookie // no lifetime but from a setting, which does not apply: the request has a cookie that is neither stripped nor in the key
	Status
	Method
	Partial
	NotModified
	Unconfirmed // an error in the place of an answer, which a request of the proxy's own does not get

	// The request: the cache was not asked, or must not answer.

	RequestNoStore
	RequestBody
	Precondition
	CodingRefused // the stored response has a content coding that the client refuses
	Upgrade
	AmbiguousPath
	AmbiguousCookie
	Bypass
	OnlyIfCached
	NoRoute
	BadRequest
	PlainHTTP // without TLS to a listener that speaks it
	ClientTimeout
	Loop
	Denied          // the route is not for this address
	Unauthenticated // the route is for users, and the request has not shown to be of one

	// Size and memory.

	TooLarge
	InflightLimit
	DiskBusy   // more waits to be written to the disk than may
	WriteRate  // cache.disk.write_rate is used up
	SmallRange // the whole would cost more than limits.range_amplification
	Refused
	Purged

	// The client: it is gone, or has its share.

	ClientGone  // before it had its answer
	Rate        // it asks more often than limits.rate
	ClientShare // it holds its share of what is scarce

	// The client's pace.

	FellBehind // a shared fetch went on without it, and the rest was nowhere to be had

	// The origin, or we, failed.

	Incomplete
	OriginError
	OriginTimeout
	Overload
	Panic

	// Count is the number of reasons, None included; no reason itself.
	Count
)

var words = [Count]string{
	None: "", FirstSighting: "first-sighting", TooFewSightings: "too-few-sightings", NotDrawn: "not-drawn", Outweighed: "outweighed", AdmissionDenies: "never",
	NoStore: "no-store", Private: "private", NoCache: "no-cache", Authorization: "authorization", SetCookie: "set-cookie",
	VaryStar: "vary-star", VaryLimit: "vary-limit", NoFreshness: "no-freshness", RequestCookie: "request-cookie", Status: "status", Method: "method", Partial: "partial",
	NotModified: "not-modified", Unconfirmed: "unconfirmed",
	RequestNoStore: "request-no-store", RequestBody: "request-body", Precondition: "precondition", CodingRefused: "coding-refused",
	Upgrade:       "upgrade",
	AmbiguousPath: "ambiguous-path", AmbiguousCookie: "ambiguous-cookie", Bypass: "bypass", OnlyIfCached: "only-if-cached", NoRoute: "no-route",
	BadRequest: "bad-request", PlainHTTP: "plain-http", ClientTimeout: "client-timeout", Loop: "loop", Denied: "denied", Unauthenticated: "unauthenticated",
	TooLarge: "too-large", InflightLimit: "inflight-limit", DiskBusy: "disk-busy", WriteRate: "write-rate", SmallRange: "small-range", Refused: "refused", Purged: "purged",
	ClientGone: "client-gone", Rate: "rate", ClientShare: "client-share", FellBehind: "fell-behind",
	Incomplete: "incomplete", OriginError: "origin-error", OriginTimeout: "origin-timeout", Overload: "overload", Panic: "panic",
}

// String returns the word, "" for None.
func (r Reason) String() string {
	if r >= Count {
		return "unknown"
	}
	return words[r]
}

// HeldBack reports whether the reason is admission's: the response was storable
// and the policy did not let it in.
func (r Reason) HeldBack() bool { return r > None && r <= AdmissionDenies }
