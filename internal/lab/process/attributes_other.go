//go:build !linux

package process

import (
	"os"
	"syscall"
)

// Attributes returns nil: how children end with their parent differs between systems.
func Attributes(syscall.Signal) *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) error { return p.Kill() }
