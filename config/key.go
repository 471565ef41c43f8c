package config

import "edgeproxy/internal/route/cachekey"

func keyTable(k *cachekey.Options) table {
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
