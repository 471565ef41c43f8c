// Package edgetest puts an origin, an edge and clients together, for tests only.
//
// It answers: what does a whole edge do with these requests, and what does the
// origin see of them? Start runs the proxy that the command runs, of the operator's YAML: what a
// test does not say is the shipped default. Origin plays a script on every connection it
// is given. Both serve the tests of other rooms over real sockets.
//
// Its own tests run the scenarios of testdata: origin, edge, clients and clock in
// one bubble of virtual time (testing/synctest), over connections in memory. An
// hour passes in no time, and "together" means together. language_test.go lists
// the verbs. The first letter of a file's name says what it is about: b basic, c
// complex, f failure, i interoperation (with the section of the RFC), r regression.
//
// The laws: there is one composition, that of internal/edge, which has two seams for tests. A
// scenario states what clients and origin see, exactly, and nothing of
// the inside. Nothing here sleeps in real time.
package edgetest
