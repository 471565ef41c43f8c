// Package trace answers one question: which objects were asked for, in which
// order, how long is each, and when was it asked for?
//
// It reads the logs that servers write, plain or compressed, and makes requests
// up where there is no log (zipf:..., popularity:...). All programs replay the same
// Trace: the simulator takes the sizes and the hashes of the keys, the load test
// the keys themselves.
//
// Its laws: memory grows with the objects, not with the requests, which lie in a
// temporary file without a name once they pass a few MiB; every line of a log is
// either used, skipped for a reason that is written down, or bad, and all three
// are counted; the same input gives the same trace on every machine.
//
// # What is used
//
// A line of an access log is a request when it is a GET answered with 200, or
// with 304 to a client that has the object. A HEAD answered so is one too where it
// is asked for (Options.Heads): it stores nothing, and the proxy takes it for a
// sighting of the same key. Other methods and statuses are skipped: the sizes of 206
// and of errors are not the object's. Our own log also says what
// became of a request: what was passed because it may not be stored, and what
// failed, is skipped too. Lines of a sequence (seq id size) have no method and are
// all used.
//
// The key of a request is its target with the query, after the host where the
// log has one. The size of an object is the largest seen, as a 304 or a client
// that went away shows less. Times never run backwards: a log is written as
// requests end, so an earlier one counts as of the line before it. So does one that
// leaps back by over an hour or ahead by over 30 days, unless those that follow do
// too. A log that goes back as a whole is refused: logs were given, or unpacked
// into a pipe, in the wrong order.
//
// It does not judge, store or send anything, does not merge the logs of several
// servers, and does not read the clock.
package trace
