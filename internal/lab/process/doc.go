// Package process answers one question: how does a measurement start the programs that it measures, and what have they used?
//
// Start runs a program in a process of its own, Await… wait until it works, and Close ends it with its children. What it used is
// read from /proc, so CPUTime, TreeTime, Resident and WrittenBySelf work on Linux alone. Build compiles edgeproxy, and FreeAddresses and
// OnFreePorts find where programs can listen.
//
// The law: no process is left behind. On Linux it ends also where this program is killed.
//
// It knows no program but edgeproxy; nginx and the others are in internal/lab/peers.
package process
