// Command proofs answers: what does docs/savings.md claim of admission, and does it
// still hold?
//
// It runs edgeproxy simulate over the usual traces and over a model of a content
// delivery network's popularity, and prints tables. Under each stand the claims
// that it bears, with what was found; if one does not hold, the exit code is 1.
//
// The law: every figure is one that the program itself gives out as JSON, by the
// command printed above the table, so that everybody can ask for it again. Nothing
// is measured that depends on the machine.
//
// It does not run the proxy: that the proxy does what simulate foretells is a
// test of internal/edge. It knows no code of the program's.
package main
