package edge

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"edgeproxy/config"
)

// Source is where a configuration comes from: a file, or flags alone. It is not safe for concurrent use.
type Source struct {
	File  string       // "" for none; then nothing can be reloaded
	Flags config.Flags // override the file. Load sets Memory

	digest [sha256.Size]byte // of the file before Load read it
}

// Load loads the configuration and notes what the file held, so that a reload sees a change. The memory defaults depend on
// the cgroup's limit. The error is a config.Errors if a setting is at fault.
func (s *Source) Load() (*config.Config, error) {
	if s.File != "" {
		data, _ := readRegular(s.File) // load reports an error
		s.digest = sha256.Sum256(data) // before load reads it: the watch then sees a change in between
	}
	return s.load()
}

func (s *Source) load() (*config.Config, error) {
	s.Flags.Memory = config.Size(cgroupMemory())
	if s.File == "" {
		return config.FromFlags(s.Flags)
	}
	return config.LoadWith(s.File, s.Flags)
}

// comparedBytes bounds what is read of a file. It is more than a configuration file may have.
const comparedBytes = 4 << 20

// readRegular returns the first comparedBytes of a regular file. It refuses other files: a named
// pipe would block this reload and every later one, and a device has no end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a regular file, not one of mode %s", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, comparedBytes))
}
