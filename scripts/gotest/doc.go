// Command gotest runs "go test -json" with the arguments it is given and says
// in its last line how many tests passed and failed.
//
// It answers one question: did everything that should have run, run and pass?
// Only leaves are counted: a test with subtests counts by itself only when it
// skips, or fails without any of them failing. What fails outside a test (a build, a
// TestMain, a panic, an early exit) counts as one failure, and so does a run
// in which no test ran at all. The output of what passed is dropped.
//
// Two environment variables matter. EDGEPROXY_TEST_ALL=1 turns every skipped
// test into a failed one, but those that say "the traces are not there". GOTEST_TALLY names a file to which one line per test
// is appended (pass, fail or skip, a tab, the name), so that several runs can
// be added up without counting a test twice.
//
// It does not choose packages or flags, retry, or judge how long tests take.
package main
