package config

import "edgeproxy/internal/admission/fit"

const (
	memoryMaxBytes    = "cache.memory.max_bytes"
	memoryObjectBytes = "cache.memory.max_object_bytes"
)

// fitMemory lowers the default of cache.memory.max_bytes to 40 % of limit, in whole MiB. limit
// is the memory that the process may take; 0 is no limit. Values of the file or of flags do not
// change, and the default stays large enough for them: so a file that is valid on one machine
// is valid on every other. The default of max_object_bytes goes down with max_bytes.
func (c *Config) fitMemory(src *source, limit Size) {
	m := &c.Cache.Memory
	if limit <= 0 || src.given(memoryMaxBytes) {
		return
	}
	object := c.largestSlice()
	if src.given(memoryObjectBytes) {
		object = max(object, m.MaxObjectBytes)
	}
	stage := max(m.StageBytes, 0)
	most := max(limit*2/5/MiB*MiB, MiB, 2*stage, 4*object+stage)
	if most >= m.MaxBytes {
		return
	}
	m.MaxBytes = most
	if src.given(memoryObjectBytes) {
		return
	}
	largest := (most - stage) / 4
	if m.StageBytes == AutoStage {
		largest = max(Size(fit.LargestBeside(int64(most))), object)
	}
	m.MaxObjectBytes = min(m.MaxObjectBytes, largest)
}

// largestSlice returns the largest slice of all routes, 0 if none has slices.
func (c *Config) largestSlice() Size {
	most := c.Cache.SliceBytes
	for i := range c.Routes {
		most = max(most, c.Routes[i].ownCache.SliceBytes)
	}
	return Size(most)
}
