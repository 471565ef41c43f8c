// Package archtest answers one question: does the source keep the rules of the
// house?
//
// A room is a folder with Go files, a wing a folder whose rooms stand together.
// wings_test.go says which wing may import which, and which room which module of
// others. The wings stand in one order from the ground up, so no circle can be.
// Rooms that one wing alone uses stand below its folder internal, where the
// compiler keeps others out. Beside it stand the rules on shape: a comment on
// every package, files and functions with a limit on their length, no init, no
// dot import, no unsafe but in a room that lays out memory by itself.
//
// The tests parse the source in their own process. A go list started by a test
// is invisible to the test cache, which would go on saying ok after a
// violation.
//
// It does not type-check, follow indirect imports or judge style; the linter
// does that.
package archtest
