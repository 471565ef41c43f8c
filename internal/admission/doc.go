// Package admission answers: may the response to this request be stored, and if not, why not? It also measures itself:
// how often are its filters wrong, and how often was holding back a response regretted?
//
// A Rule is the policy of one route. The Gate holds the filters that remember sightings, rotates their windows, and
// saves them over a restart. Beside each filter are a sample of exactly remembered keys, which measures the false
// positives that the formula expects (sample.go has the proof), and two filters of fills, which measure regret
// (regret.go).
//
// A sighting is a request of a key as admission counts it. A fill is a storable response that a miss has fetched. A
// fill is regretted if the fill before it, of the same key and within the window, was held back. A window is the time
// that a filter remembers; it consists of generations, of which a rotation drops the oldest and begins a new one.
//
// The rules it keeps: one request is one sighting, recorded in the filter of the rule's policy and nowhere else, and
// every refusal has a reason of package reason. A measured error is certain: sightings that overlap, or came before the
// sample began, are not judged. A saved state is restored as whole filters or not at all, and time while stopped ages
// it like time while running.
//
// It hashes no key, and knows neither requests nor responses. It does not decide what counts as a sighting. The caching
// rules decide whether a response may be stored at all. It logs nothing: it calls its owner.
package admission
