package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links on the path to a file, as the kernel does.
const maxLinks = 40

// pointsOf returns linksAndFile of a path, from where the process is.
func pointsOf(path string) []string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return linksAndFile(path)
}

// linksAndFile returns each symbolic link on path, and the file that path leads to. While they do
// not change, path leads to the same file. All returned paths are absolute, in folders that are
// no links. The last one may not exist. path is absolute.
func linksAndFile(path string) []string {
	var out []string
	at, rest := string(filepath.Separator), splitPath(path)
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		next := filepath.Join(at, rest[0])
		target := ""
		if info, err := os.Lstat(next); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, _ = os.Readlink(next) // if it is no link any more, it counts as the file
		}
		switch {
		case target == "" && len(rest) == 1:
			return append(out, next)
		case target == "":
			at, rest = next, rest[1:]
		default:
			links++
			out = append(out, next)
			rest = append(splitPath(target), rest[1:]...)
			if filepath.IsAbs(target) {
				at = string(filepath.Separator)
			}
		}
	}
	return out
}

// splitPath returns the parts of a path. It keeps "..": the folder above a link's target is not
// the one above the link.
func splitPath(path string) (parts []string) {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
