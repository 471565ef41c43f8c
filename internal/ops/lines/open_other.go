//go:build !unix

package lines

import "os"

// openFile opens a file for appending, never for reading.
func openFile(path string, _ bool) (f *os.File, reads bool, err error) {
	f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
	return f, false, err
}
