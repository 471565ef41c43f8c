// Package sealed is for what the edges of a site send each other: streams that nobody between them may read or change, under a secret that they share.
//
// It knows no network, no file but that of the secret, and nothing of what is sent.
package sealed
