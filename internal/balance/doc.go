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
//   - Requests that break behind the connection eject a server by their share of many,
//     and by how many targets they were for: one URL that makes a server hang up, asked
//     for again and again, takes it from nobody.
//   - Requests given out before an ejection say nothing about the server after it.
//   - When no server is left, all get requests again, or none, as the operator chose.
//     A request that has tried all that are left may go to an ejected one, then.
//   - A backup gets requests only while each other server is ejected or down, or was tried
//     by the request. One that is full holds no backup in store: its requests wait.
//   - A server that the health checks call down gets none, whatever the rest says,
//     as long as any is left, tried or not.
//
// It knows no socket and no clock: now is an argument, and so is what each server
// carries. It is not safe for concurrent use.
package balance
