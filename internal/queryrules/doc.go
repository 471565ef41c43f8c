// Package queryrules remembers what the responses of a path say of its queries.
//
// It answers one question: by which rule do two queries of this path mean the same, and
// which key do they share then? A response says so for itself, by No-Vary-Search
// (draft-ietf-httpbis-no-vary-search). A request has to guess what the response says
// that it is looking for. So a Table keeps one rule for a path: the rule that most of
// its latest responses had. That is a guess and no more: a response may be found by a
// rule only if it was stored under that very rule.
//
// Each rule of a path has a number, which no other gets, also if the path comes back to a
// rule that it had before, nor in the next process. The number is in the key. So what was
// stored by a rule is out of reach once the rule has left the table, and a purge needs to
// know the present rule only.
//
// A purge must also reach a response that is stored by a rule which was not known when its
// fetch began: no list of fetches has it there. So a Table counts what was forgotten. The
// law for a purge of a URL: call Forget, and then remove what is found by the rule that it
// returns. The law for a fetch: take Forgotten before the fetch, call Teach, and store only
// if Forgotten is still the same.
//
// The table is bounded. Only a rule that nobody has asked for lately makes room for another
// path. A path that finds no room goes on as if its responses had no rule.
//
// Looking up takes no lock and allocates nothing; in an empty table it is one atomic load.
// The package knows fields and targets, and neither stored responses nor the clock.
package queryrules
