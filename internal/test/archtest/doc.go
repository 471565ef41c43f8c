// Package archtest answers one question: does the source keep the rules of the
// house?
//
// A room is a folder with Go files. The table in rooms_test.go lists every room
// with the rooms and the modules it may import directly; a room that is not in
// the table, or a line of the table without a room, fails the test. Beside it
// stand the rules on shape: a comment on every package, files and functions
// with a limit on their length, no init, no dot import, no unsafe but in a room that lays
// out memory by itself.
//
// The tests parse the source in their own process. A go list started by a test
// is invisible to the test cache, which would go on saying ok after a
// violation.
//
// It does not type-check, follow indirect imports or judge style; the linter
// does that.
package archtest
