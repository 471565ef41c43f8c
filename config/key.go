package config

// Key says what else tells the responses of a URL apart, and what of its query does
// not. Names are as they come in a request, decoded. Whether they can be used is for
// others to check: see internal/cachekey.
type Key struct {
	// IgnoreQuery and OnlyQuery name parameters to leave out, or the only ones to keep;
	// a * at the end stands for any ending. One of the two is empty.
	IgnoreQuery, OnlyQuery []string
	SortQuery              bool     // parameters in the order of their names
	Headers                []string // request fields that select a response
	Cookies                []string // cookies that do
}

func (d *decoder) key(k *Key) func(node) {
	names := func(dst *[]string) func(node) {
		return elements(d, "want a list of names, such as [lang]", dst, d.text)
	}
	return d.section(keys{
		"ignore_query": names(&k.IgnoreQuery),
		"only_query":   names(&k.OnlyQuery),
		"sort_query":   d.boolean(&k.SortQuery),
		"headers":      names(&k.Headers),
		"cookies":      names(&k.Cookies),
	})
}
