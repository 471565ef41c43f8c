//go:build !unix

package edge

import "math"

// descriptorLimit says that descriptors have no limit.
func descriptorLimit() int { return math.MaxInt }
