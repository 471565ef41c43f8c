//go:build !unix

package lines

import "os"

// openFile opens a file.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
}
