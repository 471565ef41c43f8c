// Package nonblock makes system calls that never block: on non-blocking sockets, and reads of what the page cache has.
//
// The calls of package syscall tell Go's scheduler before and after, since a call may block, and another goroutine can use
// the processor meanwhile. Then the scheduler's watcher (sysmon) checks every 20 to 70 microseconds whether one does. A
// call that never blocks takes a few microseconds. To tell the scheduler costs a part of that in each hit, and the
// watcher costs more (0077). So the calls of this package do not tell it.
//
// Callers have two duties. A socket must be non-blocking, as those of package net are: on any other a call would keep a
// processor from all goroutines, and from the collector. And a goroutine that makes such calls in a row must make an
// ordinary one at times, as ReadTold does: nothing else may wake the watcher, which interrupts a goroutine that runs for
// too long.
package nonblock
