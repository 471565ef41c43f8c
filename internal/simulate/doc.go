// Package simulate answers: which admission setting suits this log, and what
// would each of the others have cost?
//
// A Grid lists what to try. Run replays the log once over all of it, each
// setting with a model of its own, and returns a Report: as a table, as JSON,
// as a page, and as the recommended lines of a configuration file. The law it
// keeps: every figure is compared with policy always at the same capacity,
// eviction and object limit, replayed from the same requests, whether it was
// asked for or not.
//
// It reads no log and stores nothing: package trace has the requests, package
// model the cache. It knows no flags and no configuration but the text of a few
// keys, and it takes its clock from the caller.
package simulate
