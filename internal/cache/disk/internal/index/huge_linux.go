package index

import (
	"reflect"
	"syscall"
)

// useHugePages asks the kernel for pages of 2 MiB for the table, before it is
// first written. A look-up reads two random lines, and with pages of 4 KiB the
// processor has to find the address of each in memory as well. Where the kernel
// does not do it, look-ups take longer, and nothing else changes.
func useHugePages(table []bucket) {
	const huge = 2 << 20
	from := reflect.ValueOf(table).Pointer()
	size := uintptr(len(table)) * bucketSlots * 8
	aligned := (from + huge - 1) &^ (huge - 1)
	if from+size < aligned+huge {
		return
	}
	length := (from + size - aligned) &^ (huge - 1)
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, aligned, length, syscall.MADV_HUGEPAGE)
}
