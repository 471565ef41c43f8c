package config

// warnOfAnswers warns of settings for the origin and the cache in a route with redirect or respond: they have no effect.
// The likeliest mistake is headers.response, which only sets fields of the origin's responses.
func (c *Config) warnOfAnswers(warn func(path, text string)) {
	for i := range c.Routes {
		if !c.Routes[i].AnswersItself() {
			continue
		}
		for _, key := range []string{"cache", "admission", "headers.request", "headers.response", "allow_ambiguous_path", "unusual_field_names"} {
			at, text := descendant(c.Routes[i].path, key), "has no effect: a route with redirect or respond asks no origin"
			if key == "headers.response" {
				text = "has no effect: in a route with redirect or respond, headers.generated sets the fields of responses"
			}
			if c.src.given(at) {
				warn(at, text)
			}
		}
	}
}
