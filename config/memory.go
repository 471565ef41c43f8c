package config

const (
	memoryMaxBytes    = "cache.memory.max_bytes"
	memoryObjectBytes = "cache.memory.max_object_bytes"
)

// fitMemory lowers the default of cache.memory.max_bytes to 40 % of limit, the memory that the
// process may take, in whole MiB; 0 is no limit. What file or flags give stays as it is, and
// the default stays as large as that needs: a file that is right on one machine is right on
// each. max_object_bytes, where it is not given, goes down with it.
func (c *Config) fitMemory(src *source, limit Size) {
	m := &c.Cache.Memory
	if limit <= 0 || src.given(memoryMaxBytes) {
		return
	}
	object := c.largestSlice()
	if src.given(memoryObjectBytes) {
		object = max(object, m.MaxObjectBytes)
	}
	fit := max(limit*2/5/MiB*MiB, MiB, 2*m.StageBytes, 4*object+m.StageBytes)
	if fit >= m.MaxBytes {
		return
	}
	m.MaxBytes = fit
	if !src.given(memoryObjectBytes) {
		m.MaxObjectBytes = min(m.MaxObjectBytes, (fit-m.StageBytes)/4)
	}
}

// largestSlice returns the largest slice of all routes, 0 where none has slices.
func (c *Config) largestSlice() Size {
	most := c.Cache.Slice
	for i := range c.Routes {
		most = max(most, c.Routes[i].ownCache.Slice)
	}
	return most
}
