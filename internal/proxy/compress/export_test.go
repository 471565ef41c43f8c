package compress

import "sync"

// Forget lets go of all encoders that nobody uses.
func Forget() { spare = [Count][levels]sync.Pool{} }
