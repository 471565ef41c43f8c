package edge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache/statefile"
	"edgeproxy/internal/ops/accesslog"
)

// This file checks the files that a start will open for writing. It removes what it creates for that.

const stateKey = "admission.state"

// openFaults returns which files of c cannot be opened. running is the configuration in force, nil at a start.
// Files that it has open are not checked, because a reload does not open them.
func openFaults(c, running *config.Config) (faults config.Errors) {
	if running == nil {
		running = &config.Config{}
	}
	if path := c.Admission.State; path != running.Admission.State {
		if err := checkStatePath(path); err != nil {
			faults = append(faults, c.Fault(stateKey, "must be a file in a folder that can be written to: "+err.Error()))
		}
	}
	if path := c.AccessLog.Path; path != running.AccessLog.Path {
		if err := checkLogPath(path); err != nil {
			faults = append(faults, c.Fault("access_log.path", "must be a file that lines can be added to: "+err.Error()))
		}
	}
	return faults
}

// OpenWarnings returns what a proxy of c would start without, because it cannot be used now: directories of the disk tier,
// saved sightings. New logs the same problems itself.
func OpenWarnings(c *config.Config) (out []config.Warning) {
	_, out = diskProblems(c, nil)
	path := c.Admission.State
	if path == "" {
		return out
	}
	state, err := admission.LoadState(path, time.Now())
	state.Close()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out = append(out, c.Warn(stateKey, "sightings of the last run are not used: "+err.Error()))
	}
	return out
}

// checkStatePath returns why the state cannot be saved at path; nil for an empty path.
func checkStatePath(path string) error {
	if path == "" {
		return nil
	}
	if err := checkWritableDir(filepath.Dir(path)); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return statefile.ErrIrregular
	}
	return nil
}

// checkWritableDir returns why no file can be created in a folder. It creates a file and removes it.
func checkWritableDir(folder string) error {
	probe, err := os.CreateTemp(folder, ".edgeproxy-*")
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: p.Op, Path: folder, Err: p.Err} // the random file name means nothing to the reader
	}
	if err != nil {
		return err
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}

// checkLogPath returns why a log file cannot be opened. A syslog server is not asked. It does not create the file. It does not open a
// pipe, whose reader would see the end of file.
func checkLogPath(path string) error {
	if path == "" || path == "-" || accesslog.Remote(path) {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkWritableDir(filepath.Dir(followLinks(path)))
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket != 0:
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENXIO}
	case info.Mode().IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	return checkAccess(path, mayWrite)
}

// followLinks returns where open(2) with O_CREAT would create the file at path: it follows dangling symbolic
// links.
func followLinks(path string) string {
	for range 40 { // the kernel's limit
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// checkCreatable returns why a folder cannot be used or, if it does not exist, cannot be created. It
// changes nothing, because another process may use the folder.
func checkCreatable(folder string) error {
	for {
		info, err := os.Stat(folder)
		above := filepath.Dir(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist) && above != folder:
			if _, err := os.Lstat(folder); err == nil {
				return &fs.PathError{Op: "mkdir", Path: folder, Err: syscall.EEXIST} // a link to nothing
			}
			folder = above
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return &fs.PathError{Op: "mkdir", Path: folder, Err: syscall.ENOTDIR}
		}
		return checkAccess(folder, mayWrite|maySearch)
	}
}

// Modes of access(2).
const (
	maySearch = 1
	mayWrite  = 2
)

// checkAccess returns why this process may not use the file at path in this mode.
func checkAccess(path string, mode uint32) error {
	if err := faccessat(path, mode); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}
