package config

// Headers are the rules of a route for fields.
type Headers struct {
	Request  FieldRules // what origins get, and keys are made of
	Response FieldRules // what origins answer, before anything is made of it
}

// FieldRules take fields away and set others. internal/field checks whether they can be
// used.
type FieldRules struct {
	Remove []string          // names; a * at the end stands for any ending
	Set    map[string]string // values by name
}

func (d *decoder) fieldRules(r *FieldRules) func(node) {
	return d.section(keys{
		"remove": elements(d, "want a list of field names, such as [X-Debug, X-Internal-*]", &r.Remove, d.text),
		"set": func(n node) {
			r.Set = nil
			d.each(n, `want a section of names and values, such as {X-Edge: "1"}`, func(name string, n node) {
				var value string
				d.text(&value)(n)
				if r.Set == nil {
					r.Set = map[string]string{}
				}
				r.Set[name] = value
			})
		},
	})
}

// unusualNames takes what becomes of request fields whose names have signs in them that
// some origins read as others.
func (d *decoder) unusualNames(keep *bool) func(node) {
	return func(n node) {
		choice := "drop"
		word(d, &choice, []string{"drop", "keep"})(n)
		*keep = choice == "keep"
	}
}
