package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links on the way to a file, as the kernel does.
const maxLinks = 40

// points returns what has to stay as it is for path to lead to the same file: each symbolic
// link on the way, and the file. All are absolute, in folders that are no links. The last one
// may not be there. path is absolute.
func points(path string) []string {
	var out []string
	at, rest := string(filepath.Separator), split(path)
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		next := filepath.Join(at, rest[0])
		target := ""
		if info, err := os.Lstat(next); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, _ = os.Readlink(next) // what is no link any more is taken for the file
		}
		switch {
		case target == "" && len(rest) == 1:
			return append(out, next)
		case target == "":
			at, rest = next, rest[1:]
		default:
			links++
			out = append(out, next)
			rest = append(split(target), rest[1:]...)
			if filepath.IsAbs(target) {
				at = string(filepath.Separator)
			}
		}
	}
	return out
}

// split returns the parts of a path. Those that lead up stay, for the folder above a link's
// target is not the one above the link.
func split(path string) (parts []string) {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
