// Package alike remembers what the responses of a path say of its queries.
//
// It answers one question: by which rule may two queries of this path mean the
// same? A response says so for itself, by No-Vary-Search
// (draft-ietf-httpbis-no-vary-search); a request has to guess what the response says
// that it is looking for. So a Table keeps one rule for a path, the one that most
// of its latest responses had. It is a guess and no more: a response may be found
// by a rule only if it was stored under that very rule.
//
// Each rule of a path has a number, which no other gets, also if the path comes
// back to a rule that it had before, nor the process after this one. So what was stored under a number is out of
// reach once its rule has left the table, and a purge needs to know of the
// present rule only.
//
// A purge must also reach a response that is stored under a rule which was not known
// when its fetch began: no list of fetches has it there. For that a Table counts
// what was forgotten. The law for a purge of a URL: call Forget, and then remove what
// is found by the rule that it returns. The law for a fetch: take Forgotten before the
// fetch, learn the rule, and store only if Forgotten is still the same.
//
// The table is bounded. It makes room for a path only by a rule that nobody has
// asked for lately; a path that finds no room does as if its responses had no rule.
//
// Looking up takes no lock and allocates nothing; in an empty table it is one
// atomic load. The package knows neither keys nor responses, and no clock.
package alike
