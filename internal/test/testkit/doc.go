// Package testkit has helpers that the tests of several rooms share.
//
// It has: the marks that say to which run a test belongs, waiting for what others do, a buffer for logs, a full disk, a small
// one and one that can only be read, a text that shows its places, a listener, a slow origin, a client over TLS, certificates,
// programs that are installed, nginx as an origin, pebble as an authority, Chromium, driven and looked at, a receiver of
// spans and that of the collector, and the usual traces.
//
// It knows none of our rooms, so that any of them may use it in its own tests.
package testkit
