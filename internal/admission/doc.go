// Package admission answers: may the response to this request be stored, and if
// not, why not? It also answers for itself: how often are its filters wrong, and
// how often was holding back regretted?
//
// A Rule is what one route uses; the Gate holds the filters that remember
// sightings, keeps their windows moving, and keeps them over a restart. Beside
// each filter stand a sample of exactly remembered keys, which measures what the
// formula expects (sample.go has the proof), and two filters of fills, which
// tell regret (regret.go).
//
// The laws it keeps: one request is one sighting, recorded in the filter of the
// rule's policy and nowhere else, and every refusal has a reason of package
// reason. A measured error is a certain one: what overlaps, or happened before
// the sample began, is not judged. A saved state is taken as a whole filter or
// not at all, and time spent stopped ages it like time spent running.
//
// It hashes no key, knows neither requests nor responses, and does not decide
// what counts as a sighting; whether a response may be stored at all is the
// business of the caching rules. It logs nothing: its owner is called.
package admission
