// Package admission answers: may the response to this request be stored, and if
// not, why not?
//
// A Rule is what one route uses; the Gate holds the filters that remember
// sightings and keeps their windows moving. The law it keeps: one request is one
// sighting, recorded in the filter of the rule's policy and nowhere else, and
// every refusal has a reason of package reason.
//
// It hashes no key, knows neither requests nor responses, and does not decide
// what counts as a sighting; whether a response may be stored at all is the
// business of the caching rules. It logs nothing: its owner is called.
package admission
