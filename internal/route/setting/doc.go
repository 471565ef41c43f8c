// Package setting has the settings of requests and routes, and limits of what they take, that are used as the operator wrote them.
//
// It answers one question: what has the operator chosen for requests? The configuration decodes the types of this package, the
// engine runs by them, and nothing stands between the two. Settings of one rule that has a room of its own, such as cache keys
// (internal/route/cachekey), are types of that room, and fields here.
//
// All types are plain data. They are safe for concurrent reading as long as nobody writes to them. The package checks nothing: the
// configuration does, which knows the places of mistakes.
package setting
