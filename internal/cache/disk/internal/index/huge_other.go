//go:build !linux

package index

func useHugePages([]bucket) {}
