// Package route holds what the operator says of a request: which route it matches, its cache key, its header fields,
// its rate, and who may make it.
package route
