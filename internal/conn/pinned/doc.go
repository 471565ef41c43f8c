// Package pinned counts the bodies that are still being sent although they have left the
// cache.
//
// It answers one question: how much memory do clients keep in use that the cache has given
// up? A body that was evicted, replaced or purged lives on for as long as an answer is sent
// from it, and the client decides how long that takes. Such a body is pinned. A Body counts
// in how many places the cache holds one body, and how many answers are sent from it. A Total
// adds up the bytes of the bodies that are pinned.
//
// The package holds no bytes, and decides nothing: internal/conn/pace lets clients go.
package pinned
