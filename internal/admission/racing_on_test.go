//go:build race

package admission

// racing says that the race detector is on, under which all takes several times
// as long; the heavy tests do less then.
const racing = true
