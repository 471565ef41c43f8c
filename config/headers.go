package config

// unusualNames takes what becomes of request fields whose names have signs in them that
// some origins read as others.
func (d *decoder) unusualNames(keep *bool) func(node) {
	return func(n node) {
		choice := "drop"
		word(d, &choice, []string{"drop", "keep"})(n)
		*keep = choice == "keep"
	}
}
