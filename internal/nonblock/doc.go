// Package nonblock makes system calls that never block.
//
// It answers one question: what does this socket give or take at once? The calls of package
// syscall tell Go's scheduler before and after, for a call may block and somebody else wants the
// processor meanwhile. Then the scheduler's watcher (sysmon) looks every 20 to 70 microseconds
// whether one does. A call on a socket that never blocks takes a few microseconds, and to tell costs
// a part of that in each hit, and the watcher more (0077). So nothing is told here.
//
// Callers see to two things. The socket must be non-blocking, as those of package net are: any other would
// keep a processor from all other goroutines, and from the collector. And who makes such calls for as long
// as there is something to do has to make an ordinary one at times, as ReadTold does: nothing else may wake the
// watcher, which interrupts who runs for too long.
package nonblock
