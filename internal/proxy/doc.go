// Package proxy is the engine: it takes a request from a front to its answer.
//
// It answers: what does this client get, and what does the cache keep of it?
//
//	receive   parse target and host, hear trusted proxies, read what the request asks of
//	          a cache (receive.go, headers.go)
//	decide    answer what needs neither cache nor origin (ownanswer.go); find the route
//	          (route.go) and see whether it is for this client (access.go); build the key by the
//	          route's rules and by the path's rule for queries (key.go); look up (lookup.go) and
//	          count the sighting (decide.go), by which key (sighting.go)
//	collapse  lead or join the flight for the key (collapse.go)
//	fill      what a flight, or one request alone, fetches (fill.go):
//	  fetch   ask the origin (fetch.go)
//	  judge   may the response be stored? (judge.go)
//	  admit   was it asked for often enough? (admit.go)
//	  store   write the body into the flight and the cache; only then the flight ends; count
//	          the fill (store.go)
//	pass      what is not cached goes straight through (pass.go)
//	  interim interim responses go to the client that waits (interim.go)
//	  upgrade where the origin switches protocols, bytes go both ways from then on (upgrade.go, and
//	          the room tunnel)
//	deliver   the answer, which the front sends: its head (deliver.go), then its content, from
//	          the store (sendstored.go) or as a stream with trailers behind it (stream.go)
//	record    one log line, one set of counters (record.go, metrics.go)
//
// A purge may come at any moment (purge.go). A response is checked against the purges when it
// is looked up, and again when it is stored (purged.go).
//
// Keys: what is stored has a name, which is its whole key in bytes, and a key, the hash of the name
// (cache.Key). A name begins with the URL. Behind it stands what the rules of the route select by;
// both together are the base. A variant has the request's fields behind that. The hashes of the
// first two are urlKey, by which purges reach flights, and baseKey, by which variants are found. A
// keying holds the name and its three hashes. countedKey and fillKey say which of them a
// sighting and a fill are counted under.
//
// Words: an exchange is one request and its answer, in parts that each belong to a step
// (exchange.go). A fill is one fetch and what becomes of it. To take is to make what a flight has
// brought the answer (wanted). A loop is a request that was here before (RFC 8586).
//
// It is the only room that knows this order. The rules are elsewhere: framing and keys in wire,
// storability and freshness in rfc9111, sightings in admission, sharing in flight, stored bytes
// in cache, the origin's connections in origin, the operator's header fields in fieldrules, texts
// with placeholders in template, rewritten paths in rewrite, several ranges in byteranges, slow
// clients in readahead.
//
// The laws:
//   - It knows no server library: requests and answers are of internal/http/message.
//   - headers.go and lines.go are the only border to a front's bytes, which live until the
//     answer is closed: they alone copy them into what lives longer.
//   - A stored entry's full key is compared on every hit.
//   - What is not in the key is not forwarded where an origin commonly trusts it.
//   - The clock is read through clock.go alone.
//   - The hit path allocates nothing and copies no body of 16 KiB or more.
package proxy
