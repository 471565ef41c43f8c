package policy

// always stores everything that may be stored.
var always = policy{
	name:   "always",
	admits: func(Rule, Sighting) bool { return true },
}
