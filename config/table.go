package config

// table is the settings of one section in the order of the reference file, bound to the
// struct that holds their values. Every section's type has one. Decoding, the check of
// ranges, defaults, flags, the reference file, the JSON Schema, the page of settings and
// Changes all use it. Conditions between several settings are in validate.go and the files
// of the sections.
type table []row

// row is the row of one setting.
type row struct {
	name  string
	value value
	// live says that a reload applies the setting. Otherwise it takes a restart. It has no
	// meaning for a section.
	live bool
	// about says what the setting is for. The reference file has its first sentence as a
	// comment, documents and editors have all of it.
	about string

	// mayBeLive says whether a reload applies a change from one text to another, of a setting that otherwise takes a restart; nil: none.
	mayBeLive func(from, to string) bool

	optional  bool // the reference file has the section or key as a comment
	dependent bool // other settings may make the default invalid; Effective leaves it out then
	required  bool
	basic     bool // the starter file has it
	inline    bool // the reference file has the section on one line
	override  bool // a route's section: keys that it leaves out have the values for all routes
	flag      string
	flagHelp  string
	example   string // in YAML, if the default shows nothing
}

// live is a setting that a reload applies.
func live(name string, v value, about string) row {
	return row{name: name, value: v, about: about, live: true}
}

// restart is a setting whose change takes a restart.
func restart(name string, v value, about string) row {
	return row{name: name, value: v, about: about}
}

// section is a section with a table of its own, which is made when something looks below the section.
func section(name string, below func() table, about string) row {
	return row{name: name, value: &group{bind: below}, about: about}
}

// misplaced is a key that belongs elsewhere; want says where.
func misplaced(name, want string) row { return row{name: name, value: misplacedKey{want}} }

// isMisplaced reports whether the key belongs elsewhere.
func (t table) isMisplaced(name string) bool {
	s, _ := t.find(name)
	_, ok := s.value.(misplacedKey)
	return ok
}

// notSupported is a key that is reserved, but not supported yet.
func notSupported(name string) row { return row{name: name, value: unsupported{}} }

func (s row) asOptional() row  { s.optional = true; return s }
func (s row) asDependent() row { s.dependent = true; return s }
func (s row) asRequired() row  { s.required = true; return s }
func (s row) asBasic() row     { s.basic = true; return s }
func (s row) asInline() row    { s.inline = true; return s }
func (s row) asOverride() row  { s.override, s.optional = true, true; return s }

// asRestart returns t with every setting as one that takes a restart.
func (t table) asRestart() table {
	for i := range t {
		t[i].live = false
	}
	return t
}

// liveWhere makes some changes of the setting such that a reload applies them.
func (s row) liveWhere(is func(from, to string) bool) row { s.mayBeLive = is; return s }

// isLive reports whether a reload applies a change of the setting from one text to another.
func (s row) isLive(from, to string) bool {
	return s.live || s.mayBeLive != nil && s.mayBeLive(from, to)
}

// withExample gives the setting an example in YAML.
func (s row) withExample(example string) row { s.example = example; return s }

// withFlag gives the setting a flag of the command line.
func (s row) withFlag(flag, help string) row { s.flag, s.flagHelp = flag, help; return s }

// isDocumented reports whether documents and files show the setting. Misplaced and unsupported
// keys only have an error.
func (s row) isDocumented() bool {
	switch s.value.(type) {
	case misplacedKey, unsupported:
		return false
	}
	return true
}

// value is the value of a setting: a binding to a field of one Config.
type value interface {
	read(d *decoder) func(node)      // returns a function that reads it from a file; an error leaves it unchanged
	reset()                          // sets it to its default
	check(v *validator, path string) // adds an error if it was given and is outside its range
	get() any
	isDefault() bool // it holds its default
	take(from value) // copies the value of another binding of the same setting
	// text returns it in YAML on one line, with secrets as stars. src says where it came from.
	text(src *source, path string) string
	kind() string   // the kind of value, in words
	bounds() string // its range in words; "" is none
	schema() object // its JSON Schema
}

// object is a JSON object.
type object = map[string]any

// reset sets every setting to its default.
func (t table) reset() {
	for _, s := range t {
		s.value.reset()
	}
}

// check adds an error for every given value outside its range.
func (t table) check(v *validator, path string) {
	for _, s := range t {
		s.value.check(v, child(path, s.name))
	}
}

// overlay copies the values that were given below path from own, a table that is bound to
// another value of the same type.
func (t table) overlay(own table, src *source, path string) {
	for i, s := range t {
		at := child(path, s.name)
		if g, ok := s.value.(*group); ok {
			g.overlay(own[i].value.(*group), src, at)
			continue
		}
		if src.given(at) {
			s.value.take(own[i].value)
		}
	}
}

// overlaid returns a section of top with the values that were given at path from own. of is the table of the section.
func overlaid[T any](top T, own *T, of func(*T) table, src *source, path string) T {
	if src.given(path) {
		of(&top).overlay(of(own), src, path)
	}
	return top
}

// find returns the setting with the name.
func (t table) find(name string) (row, bool) {
	for _, s := range t {
		if s.name == name {
			return s, true
		}
	}
	return row{}, false
}

// withDefaults returns a new T that has the defaults of its table.
func withDefaults[T any](of func(*T) table) T {
	var v T
	of(&v).reset()
	return v
}
