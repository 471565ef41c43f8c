// Package faults runs the built program over real sockets while something goes wrong
// with the origin, the network or the clients.
//
// It answers one question: what do clients see of a failure, and is anything left of it
// afterwards? Between program and origin stands toxiproxy, which delays, cuts, resets and
// swallows what passes (0032). Each test ends with the same question to the program's own
// metrics: are goroutines, file descriptors and connections back where they began?
//
// Nothing sleeps: what takes time is polled, and what is counted is counted by the program.
// The long runs are behind the build tag soak: make soak, make soak-floods.
package faults
