// Package test holds what only tests use: an origin, an edge and clients in virtual time, their tools, and the rules of
// the house.
package test
