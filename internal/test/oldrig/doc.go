// Package edgetest is the rig of before, for tests that say options in place of the operator's YAML. It goes when they are
// converted to internal/test/edgetest.
package edgetest
