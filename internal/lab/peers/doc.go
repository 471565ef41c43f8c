// Package peers answers one question: how do the programs that edgeproxy is compared with start?
//
// Nginx, Varnish, HAProxy and TrafficServer are what differs between their runs; Start writes their files and runs them by
// internal/lab/process. Find says whether one is installed.
//
// The law: each runs with one worker, in the foreground, with all its files in one folder, which the caller removes. It knows nothing of
// what is measured.
package peers
