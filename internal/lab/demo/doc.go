// Package demo shows what admission saves, with nothing but this process.
//
// It answers one question: how many cache writes does it avoid to store on the
// second sighting, and what does that cost at the origin? Two proxies are
// handed to it, one for each policy. It gives them an origin and clients, and
// prints their counters side by side: bars, a verdict each ten seconds and a summary.
//
// The laws it keeps:
//   - Both proxies get the very same requests in the same order. Request n+1 is
//     sent when both have answered request n.
//   - The numbers begin when the caches are full: what fills an empty cache says nothing of the
//     policy.
//   - Every number shown is a count of the proxies themselves; what the clients
//     saw is shown only where they saw failures.
//   - Objects, sizes and requests follow from a fixed seed: every run asks for
//     the same.
//
// It does not measure speed, for it has one request under way at a time and
// shares its machine with both proxies; the load test does. It knows nothing of
// how a proxy works, and neither starts nor stops one.
package demo
