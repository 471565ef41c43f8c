package process

import (
	"os"
	"syscall"
)

// Attributes put a child into a process group of its own, so that Ctrl-C reaches only this program. The child gets the signal death
// when the thread that started it dies.
func Attributes(death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// killGroup ends a child and all its children.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
