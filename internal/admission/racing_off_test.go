//go:build !race

package admission

const racing = false
