// Package accesslog writes one line per request: JSON, the combined format of Apache and
// nginx, or a template.
//
// It answers one question: what did each client request, and what was the result?
//
// The law it keeps: a request never waits for the log. A line is encoded into the
// queue of internal/ops/lines, which drops and counts lines that do not fit. Whatever bytes a
// client sends, they cannot break a line in two or end the value that they are in (0092).
//
// It does not sample, and it does not decide which requests are logged.
package accesslog
