// Package trace reads requests from access logs: for each request the object, its
// size and the time, in order.
//
// It reads the logs of several servers, plain or compressed. Without a log it
// generates requests (zipf:..., popularity:...). All programs replay the same Trace:
// the simulator uses the sizes and the hashes of the keys, the load test the keys
// themselves.
//
// Memory grows with the objects, not with the requests: those are in a temporary file
// without a name once they exceed a few MiB. Every line of a log is used, skipped for
// a documented reason, or bad, and all three are counted. The same input gives the same
// trace on every machine.
//
// # What is used
//
// A line of an access log is used if it is a GET with status 200, or with 304 to a
// client that has the object. With Options.Heads a HEAD with these statuses is used
// too: it stores nothing, and the proxy counts it as a sighting of the same key. Other
// methods and statuses are skipped: the sizes of 206 and of errors are not the object's.
// Our own log also has the result of a request: requests that failed, or that passed the
// cache because they may not be stored, are skipped too. Lines of a sequence (seq id
// size) have no method and are all used.
//
// The key of a request is its target with the query, in the normal form that the proxy
// keys, behind the host if the log has one, or else what stands for a site there. The size
// of an object is the largest in the log: a 304, or a client that went away, shows less. Times never run backwards: a log is written as requests end, so an
// earlier time counts as that of the line before. So does a time that leaps back by over
// an hour or ahead by over 30 days, unless the following ones do too. A log that goes
// back as a whole is refused: the logs were given, or unpacked into a pipe, in the wrong
// order. With Options.IgnoreTimes there are no times, and the order of the lines counts.
//
// # How the format is found out
//
// A header line decides, or the first lines vote. What other programs put around each line is removed first. A guess that
// fits too few lines, of the first ones or of all, is an error: a log in another format may fit in part, and its figures
// would be wrong. dialects has the names of the fields of each server and cloud, Fields those of one log.
//
// The package does not merge the logs of several servers, and does not read the clock.
package trace
