// Package accesslog writes one line of JSON per request.
//
// It answers one question: what did each client ask for, and what came of it?
//
// The law it keeps: a request never waits for the log. A line is encoded into the
// queue of internal/lines, which drops and counts what does not fit.
//
// It does not sample, and it does not decide which requests are logged.
package accesslog
