package edge

import (
	"fmt"
	"io"
	"os"

	"edgeproxy/config"
)

// Source is where a configuration comes from: a file and what it includes, or flags alone. It is not safe for concurrent use.
type Source struct {
	File  string       // "" for none; then nothing can be reloaded
	Flags config.Flags // override the file. Load sets Memory

	inputs config.Inputs // what Load has read
}

// Load loads the configuration and notes what the files held, so that a reload sees a change. The memory defaults depend on
// the cgroup's limit. The error is a config.Errors if a setting is at fault.
func (s *Source) Load() (*config.Config, error) {
	s.Flags.Memory = config.Size(cgroupMemory())
	if s.File == "" {
		return config.FromFlags(s.Flags)
	}
	return s.inputs.Load(s.File, s.Flags)
}

// comparedBytes bounds what is read of a file. It is more than a configuration file may have.
const comparedBytes = 4 << 20

// readRegular returns the first comparedBytes of a regular file. It refuses other files: a named
// pipe would block this reload and every later one, and a device has no end.
func readRegular(path string) ([]byte, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, comparedBytes))
}

// checkRegular fails if path is no regular file, nor a link to one.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: must be a regular file, not one of mode %s", path, info.Mode())
	}
	return nil
}
