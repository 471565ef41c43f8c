// Package queryrules remembers, for each path, which query parameters do not matter.
//
// A response says by No-Vary-Search (draft-ietf-httpbis-no-vary-search) which queries of its
// path mean the same. A request has to guess what the stored response has said. So a Table
// keeps one rule for a path: the rule that most of its latest responses had. It is only a
// guess: a response is found by a rule only if it was stored under that rule.
//
// Each rule of a path has a number. It is unique, even if the path returns to a rule that it
// had before, and in the next process. The number is in the cache key. So a response that
// was stored by a rule is not found any more once the rule has left the table, and a purge
// only needs the current rule.
//
// A purge must also reach a response whose rule was not known when its fetch began: a list of
// fetches does not have it under that rule. So a Table counts purges. A purge of a URL must
// call Forget, and then remove what is stored by the rule that Forget returns. A fetch must
// read Forgotten before it begins, call Teach, and store only if Forgotten is unchanged.
//
// The table is bounded. A path only gets the place of a rule that was not used lately. A path
// without a place is treated as if its responses had no rule.
//
// A look-up takes no lock and allocates nothing; in an empty table it is one atomic load.
// The package knows neither stored responses nor the clock.
package queryrules
