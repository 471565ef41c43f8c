// Package lab holds the laboratory: recorded requests, models of caches that are asked them, and the demo.
package lab
