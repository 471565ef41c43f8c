// Package http holds what HTTP says: its packages read, check and write the parts of messages, and know no
// configuration, no clock and no network.
package http
