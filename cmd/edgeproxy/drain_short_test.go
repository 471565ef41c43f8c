//go:build !soak

package main

// How often, and under how many requests, the program is stopped; many times with the
// tag soak.
const drainRuns, drainRequests = 2, 200
