package proxy_test

import (
	"os"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// alsoOnDisk are the tests that edges with a disk have to pass, too: what they store is there read, replaced, purged or cut in
// another way. Tests of what memory does are left out, and those of edges that have a disk in any case.
var alsoOnDisk = map[string]func(*testing.T){
	"EveryAnswerIsOneOfTheOrigins":                  TestEveryAnswerIsOneOfTheOrigins,
	"NothingOlderThanAnUnsafeRequestIsServed":       TestNothingOlderThanAnUnsafeRequestIsServed,
	"NoAnswerMixesVersions":                         TestNoAnswerMixesVersions,
	"SeekingInAGigabyteFetchesSlicesAlone":          TestSeekingInAGigabyteFetchesSlicesAlone,
	"AFilmOfManySlicesStreamsInConstantMemory":      TestAFilmOfManySlicesStreamsInConstantMemory,
	"SlicesHaveASpanEach":                           TestSlicesHaveASpanEach,
	"AClientThatFellBehindGetsTheSameBytes":         TestAClientThatFellBehindGetsTheSameBytes,
	"AClientThatFellBehindInHTTP10GetsTheRest":      TestAClientThatFellBehindInHTTP10GetsTheRest,
	"InspectFindsTheFirstSlice":                     TestInspectFindsTheFirstSlice,
	"InspectSeesWhatIsStoredAndPurged":              TestInspectSeesWhatIsStoredAndPurged,
	"PanicEndsOneRequest":                           TestPanicEndsOneRequest,
	"PanicAtEachStepEndsOneRequest":                 TestPanicAtEachStepEndsOneRequest,
	"PanicBetweenTwoSlicesEndsOneRequest":           TestPanicBetweenTwoSlicesEndsOneRequest,
	"PanicInAStreamOfSlicesEndsOneRequest":          TestPanicInAStreamOfSlicesEndsOneRequest,
	"NothingPurgedComesBack":                        TestNothingPurgedComesBack,
	"SoftPurgesHoldDuringASweep":                    TestSoftPurgesHoldDuringASweep,
	"APurgeThatTakesMoreThanItFindsCountsNothing":   TestAPurgeThatTakesMoreThanItFindsCountsNothing,
	"APurgeBeforeItsRuleIsKnownAgain":               TestAPurgeBeforeItsRuleIsKnownAgain,
	"APurgeOfAllOutlivesTheProcess":                 TestAPurgeOfAllOutlivesTheProcess,
	"FirstVisitorsTogetherAdmitOnlyTheirOwnVariant": TestFirstVisitorsTogetherAdmitOnlyTheirOwnVariant,
	"OneTimeVariantsAreNotStored":                   TestOneTimeVariantsAreNotStored,
	"VariantsAreKnownAfterARestart":                 TestVariantsAreKnownAfterARestart,
}

// TestOnDisk repeats tests with edges that have a disk.
func TestOnDisk(t *testing.T) {
	testkit.Slow(t, "repeats tests")
	testkit.Plain(t, "repeats tests that the race detector has watched")
	const all = "EDGEPROXY_TEST_DISK" // edgetest gives each edge a disk by it
	if os.Getenv(all) != "" {
		t.Skip("all tests are run with a disk")
	}
	if err := os.Setenv(all, "1"); err != nil { // t.Setenv forbids the parallel tests
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Unsetenv(all) })
	for name, test := range alsoOnDisk {
		t.Run(name, test)
	}
}
