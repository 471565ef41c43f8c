// Package proxy tells the story of one request.
//
// It answers: what does this client get, and what does the cache keep of it?
//
//	receive   take the request apart, which a front has read: target, host, what it
//	          asks of a cache (receive.go, headers.go)
//	decide    an authority that looks whether a name is ours is answered (challenge.go);
//	          which route, and the key by its rules (key.go) and by what the responses
//	          of the path say of queries (novarysearch.go); is it cacheable;
//	          look up and count the sighting (decide.go), by which key (sighting.go)
//	collapse  lead or join the flight for the key (collapse.go)
//	  fetch   ask the origin, copy its body into the flight (fetch.go)
//	  judge   may the response be stored? (judge.go)
//	  admit   was it asked for often enough? (the verdict of decide, and flights)
//	  store   Put, and only then the flight ends (store.go)
//	pass      what is not cached goes straight through (pass.go)
//	  tell    interim responses go to the client that waits (interim.go)
//	  upgrade where the origin switches to another protocol, bytes are copied both ways
//	          from then on (upgrade.go, tunnel.go)
//	deliver   the answer, which the front sends: its head (heading.go), then its content, in
//	          memory or as a stream (deliver.go, stream.go), with trailers behind it (trailers.go)
//	record    one log line, one set of counters (record.go)
//
// A purge may come at any moment (purge.go). What it has reached is found out when
// a response is looked up, and again when it is stored (purged.go).
//
// It is the only room that knows this order. The rules are elsewhere: framing and
// keys in wire, storability and freshness in rfc9111, sightings in admission,
// sharing in flight, bytes in cache, the other side of the wire in origin.
//
// The laws:
//   - It knows no server library: requests and answers are of internal/message.
//   - headers.go and lines.go are the only border to a front's bytes, which live until the
//     answer is closed: they alone copy them into what lives longer.
//   - A stored entry's full key is compared on every hit.
//   - What is not in the key is not forwarded where an origin commonly trusts it.
//   - The clock is read through clock.go alone.
//   - The hit path allocates nothing and copies no body of 16 KiB or more.
package proxy
