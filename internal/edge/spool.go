package edge

import (
	"edgeproxy/config"
	"edgeproxy/internal/cache/spool"
)

// newSpool returns the folder of limits.spool_path, nil if there is none.
func newSpool(c *config.Config) (*spool.Spool, error) {
	l := &c.Limits
	if l.SpoolPath == "" {
		return nil, nil //nolint:nilnil // limits.spool_path is not set
	}
	return spool.New(l.SpoolPath, l.SpoolBytes)
}

// spoolFaults checks the folder of limits.spool_path.
func spoolFaults(c *config.Config) (faults config.Errors) {
	if _, err := newSpool(c); err != nil {
		faults = append(faults, c.Fault("limits.spool_path", "must be a folder that files can be made in: "+err.Error()))
	}
	return faults
}
