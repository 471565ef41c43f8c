//go:build soak

package main

const drainRuns, drainRequests = 20, 1000
