// Command evict answers: which eviction keeps what is asked for again, and what does it write for that?
//
// It takes traces, models of popularity and workloads of its own through caches of 1, 5 and 20 % of the unique bytes, a tenth of
// which is the stage, under second-hit with the proxy's window, with each eviction that simulate has. The last one, clairvoyant, knows
// the future, and decides itself what it stores: it is a bound of hits to compare with, and no proof. For each it prints hits and bytes
// of hits in percent, writes and bytes written. At the end are the means of the differences to ristretto, and the time in user mode of
// a request, all goroutines together: of ten workloads it differs by a tenth from run to run.
//
// With --disk it takes the traces and models through a memory of 1 % with a disk of 5, 10 and 20 % behind it, with each eviction that
// the disk could have, and prints also what the device would write, and how many times the bodies that is.
//
// All but ristretto and the time is the same in each run. Objects expire in the workload lifetimes alone.
package main
