//go:build !linux

package supervisor

// monotonic is of no use where there is no systemd.
func monotonic() string { return "0" }
