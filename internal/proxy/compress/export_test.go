package compress

import (
	"sync"

	"edgeproxy/internal/route/setting"
)

// Forget lets go of all encoders that nobody uses.
func Forget() { spare = [Count][setting.Levels]sync.Pool{} }
