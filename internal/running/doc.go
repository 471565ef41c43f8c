// Package running knows the requests that are under way.
//
// It answers: which requests run now, since when, and what do they wait for?
//
// A request that is answered at once never comes here. The others are entered and taken out again under
// a lock of one of several shards, and copy what is shown of them: who lists them never reads what a request works on.
// It reads no clock.
package running
