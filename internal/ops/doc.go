// Package ops holds what operators see: the admin listener, its dashboard, logs, spans, series, and the most requested
// hosts and URLs.
package ops
