//go:build !linux

package supervisor

// monotonic has no use without systemd.
func monotonic() string { return "0" }
