// Package balance chooses among the servers of an origin.
//
// It answers one question: which of these servers gets the next request, given how
// those before it went?
//
// The laws:
//
//   - Over a round each server gets requests by its weight, spread out; or, with
//     LeastConnections, the one with the fewest for its weight gets the next.
//   - With Hash a target has the same server as long as that can take it, in each process
//     that has the same servers; and where one comes or goes, only its own targets move.
//   - A server that cannot be connected to several times in a row is ejected for a
//     while, which doubles with each such trial. When the while is over it gets a
//     single request, the trial: a circuit breaker for each server.
//   - A request breaks if its connection was made and no proper answer came. Broken requests eject
//     a server if they are a large enough share of all, and were for enough different targets.
//     So one URL that makes a server hang up, asked for again and again, does not eject it.
//   - The result of a request given out before an ejection does not count after it.
//   - When no server is up, all get requests again, or none, as the operator chose.
//     A request that has tried all that are up may go to an ejected one.
//   - A backup gets requests only while each server of a lower tier is ejected or down, or was tried
//     by the request. If one of these is only full, requests wait for it.
//   - Servers come and go while requests run (Set): what is known of those that stay is kept.
//   - A server that the health checks call down gets no requests while any other server is
//     up, even if the request has tried that one.
//
// It knows no socket and no clock: now is an argument, and so is what each server
// carries. It is not safe for concurrent use.
package balance
