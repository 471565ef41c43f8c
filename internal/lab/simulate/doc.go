// Package simulate replays a log with many admission settings, and recommends one.
//
// A Grid lists the settings to try. Run replays the log once for all of them, each
// with a model of its own, and returns a Report: a table, JSON, a page, and the
// recommended lines of a configuration file. Every figure is compared with the
// baseline: policy always at the same capacity, eviction and object limit, with the
// same requests. The baseline is simulated even if nobody asked for it.
//
// The package reads no log and stores nothing: package trace has the requests,
// package model the cache. It knows no flags and only a few keys of the
// configuration. It takes its clock from the caller.
package simulate
