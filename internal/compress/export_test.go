package compress

import "sync"

// Open returns how many readers are open.
func Open() int64 { return open.Load() }

// Forget lets go of all encoders that nobody uses.
func Forget() { spare = [Count][levels]sync.Pool{} }
