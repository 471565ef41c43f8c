// Command evict answers: which eviction keeps what is asked for again, and what does it write for that?
//
// It takes traces, models of popularity and workloads of its own through caches of 1, 5 and 20 % of the unique bytes, a tenth of
// which is the stage, under second-hit with the proxy's window, with each eviction that simulate has. One more eviction knows the
// future: it is a bound to compare with, and no proof (clairvoyant.go). For each it prints hits and bytes of hits in percent,
// writes, bytes written and the CPU time of a request, and at the end the means of the differences to ristretto.
//
// All but ristretto and the CPU time is the same in each run. Lifetimes are not modelled: no object expires.
package main
