// Command conformance answers one question: does the built edgeproxy still pass
// what it passed of the public suite for HTTP caches, http-cache-tests?
//
// It takes the suite's npm release from the package registry, or an installed
// copy of the newer repository edition from -suite, and plays every test through
// edgeproxy twice: with policy always, and with second-hit, where the URLs and variants of a
// test are asked for once before it begins. Node.js runs the suite (suite.mjs);
// everything else is here: dependencies and scores, the comparison with the
// outcomes in expected/, and the tables of docs/conformance.md.
//
// The laws: a test counts only if all tests it depends on hold. A required or
// optimal test that is expected to pass and does not is an error, and so is a
// test on which the policies differ: admission changes when a response is stored
// and nothing else. A gain is no error, and is kept with -update.
//
// The suite works in real time. So a test that is about to be an error is played
// once more, alone, and what it says then counts; the output names it.
//
// It does not judge the suite: reasons.txt says why a required test does not
// pass, and a test holds that file to the outcomes. Without Node.js or the
// registry there is nothing to run: then it says so and succeeds, unless
// EDGEPROXY_TEST_ALL=1.
package main
