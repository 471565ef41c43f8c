package edge

import (
	"edgeproxy/config"
	"edgeproxy/internal/cache/spool"
)

// newSpool returns the folder of limits.spool, nil if there is none.
func newSpool(c *config.Config) (*spool.Spool, error) {
	l := &c.Limits
	if l.Spool == "" {
		return nil, nil //nolint:nilnil // limits.spool is not set
	}
	return spool.New(l.Spool, int64(l.SpoolBytes))
}

// spoolFaults checks the folder of limits.spool.
func spoolFaults(c *config.Config) (faults config.Errors) {
	if _, err := newSpool(c); err != nil {
		faults = append(faults, c.Fault("limits.spool", "want a folder that files can be made in: "+err.Error()))
	}
	return faults
}
