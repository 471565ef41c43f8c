package config

// Key says what belongs to the cache key besides the URL, and which parameters of its query
// do not. Names are as they come in a request, decoded. internal/route/cachekey checks them.
type Key struct {
	// IgnoreQuery and OnlyQuery name parameters to leave out, or the only ones to keep;
	// a * at the end stands for any ending. One of the two is empty.
	IgnoreQuery, OnlyQuery []string
	SortQuery              bool     // sorts parameters by name
	Headers                []string // request fields that select a response
	Cookies                []string // cookies that do
}

func (k *Key) table() table {
	const want = "must be a list of names, such as [lang]"
	return table{
		live("ignore_query", texts(&k.IgnoreQuery, "parameter names", want),
			"Parameters to drop, also from the request.").withExample("[utm_*, fbclid]"),
		live("only_query", texts(&k.OnlyQuery, "parameter names", want), "The only parameters to keep, in place of ignore_query.").withExample("[q, page]"),
		live("sort_query", boolean(&k.SortQuery, false), "true sorts parameters by name."),
		live("headers", texts(&k.Headers, "field names", want), "Request fields that select a response.").withExample("[X-Lang]"),
		live("cookies", texts(&k.Cookies, "cookie names", want), "Cookies that select a response.").withExample("[currency]"),
	}
}
