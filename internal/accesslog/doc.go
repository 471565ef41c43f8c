// Package accesslog writes one line per request: JSON, the combined format of Apache and
// nginx, or what a template says.
//
// It answers one question: what did each client ask for, and what came of it?
//
// The law it keeps: a request never waits for the log. A line is encoded into the
// queue of internal/lines, which drops and counts what does not fit. Whatever bytes a client
// sends, a line stays one line, and its text stays within its value (0092).
//
// It does not sample, and it does not decide which requests are logged.
package accesslog
