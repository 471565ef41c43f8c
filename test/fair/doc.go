// Package fair attacks the built program over real sockets, as clients could who want it
// all for themselves.
//
// It answers one question: what does an honest client get while others take what they can,
// and does everything come back afterwards? Each attack is a scene: attackers have
// addresses of their own (127.0.0.2 and up), but for one that has the honest client's. That
// has 127.0.0.1 and asks for what is stored and for what is not. The same attack against a listener that only accepts
// is the control: attackers, origin and program share the machine's cores.
//
// The usual tests play those that are over soon; make soak-fair plays all of them, compares
// the times and prints one table (0049). The program is not built for the race detector, so
// nothing is played under it. Everything is on the loopback, bounded in connections and
// time, and ends by itself.
package fair
