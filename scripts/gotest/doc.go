// Command gotest runs "go test -json" and says in its last line how many tests passed and failed.
//
//	gotest [FLAGS] -- ARGUMENTS OF GO TEST
//
// It answers one question: did everything that should have run, run and pass?
// Only leaves are counted: a test with subtests counts by itself only when it
// skips, or fails without any of them failing. What fails outside a test (a build, a
// TestMain, a panic, an early exit) counts as one failure, and so does a run
// in which no test ran at all. The output of what passed is dropped.
//
// A test can leave itself to another run (internal/test/testkit: Slow, Plain, Alone). That is no skip: it is counted apart, and
// with -only the run that it is left to picks it up by its name, so no list has to be kept.
//
// With -again N a test that fails is run N more times, alone, when all others have ended. If it passes each time it is
// shaky: it is named with its seed, and up to two of them do not fail the run. Where it has ended its process, its package
// runs once more as a whole. A data race, a time-out, a failed build and more than five failed tests are never shaky. gotestsum has reruns as well, but one pass among them is enough for it.
//
// Two environment variables matter. EDGEPROXY_TEST_ALL=1 turns every skipped
// test into a failed one, but those that say "the traces are not there". GOTEST_TALLY names a file to which one line per test
// is appended (verdict, package, test, seconds and GOTEST_STEP, with tabs between them), so that several runs can
// be added up without counting a test twice; -only reads it.
package main
