// Package pinned counts the bodies that are being sent although the cache holds them no
// more.
//
// It answers one question: how much memory do clients keep that the cache has given up?
// A body that was evicted, replaced or purged lives on for as long as an answer is sent from
// it, and a client decides how long that takes. Each body has a Body that knows in how many
// places the cache holds it and how many answers are sent from it; those of a Total add up
// what is in the second state alone.
//
// The package holds no bytes, and decides nothing: internal/pace lets clients go.
package pinned
