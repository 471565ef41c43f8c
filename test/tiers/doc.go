// Package tiers runs built programs in two tiers, edges before a shield, as docs/operating/origins.md
// says to set them up.
//
// It answers one question: what do clients and the origin see of two tiers, and what does
// each policy cost at either? The configuration is that of the document, word for word but
// for addresses, and the table in the document is the one that make tiers prints: requests
// come one after the other, and no cache is ever full, so that the same numbers come each
// time.
package tiers
