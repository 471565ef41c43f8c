// Package size answers: how many keys, how low a rate or how much memory has a filter
// of which two of the three are given?
//
// It works that out for one filter and for a window of several generations, in the
// textbook's layouts and in the proxy's own, and says which setting of the proxy comes
// to the same. It reads no flags and prints nothing.
package size
