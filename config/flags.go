package config

import (
	"slices"
	"strings"

	"edgeproxy/internal/admission/policy"
)

// Flags are the settings of the command line. An empty text is a flag that was
// not given.
type Flags struct {
	Origin string // the URL of the only server of the only origin
	Listen string // the only address that serves clients
	Admin  string // the admin listener's address
	Policy string // admission.policy; a route that names its own keeps it

	// Memory is the memory limit of the process's cgroup; 0 is no limit. It is no flag of
	// the command line. See fitMemory.
	Memory Size
}

// The flags' names. Errors have them in place of a key.
const (
	flagOrigin = "--origin"
	flagListen = "--listen"
	flagAdmin  = "--admin"
	flagPolicy = "--policy"
)

// Flag is one setting of the command line.
type Flag struct {
	Name, Help string  // without hyphens; with the default, if there is one
	Value      *string // "" is a flag that was not given
}

// List returns the flags, by the table of settings.
func (f *Flags) List() []Flag {
	fields := map[string]*string{flagOrigin: &f.Origin, flagListen: &f.Listen, flagAdmin: &f.Admin, flagPolicy: &f.Policy}
	var out []Flag
	sampleConfig().table().walk("", func(_ string, s row) {
		if s.flag == "" {
			return
		}
		help := s.flagHelp
		if c, ok := s.value.(interface{ choices() string }); ok && c.choices() != "" {
			help += ": " + s.value.kind()
		}
		if _, none := s.value.(collection); !none {
			help += " (default " + strings.Trim(s.value.text(&source{}, ""), `"`) + ")"
		}
		out = append(out, Flag{strings.TrimLeft(s.flag, "-"), help, fields[s.flag]})
	})
	return out
}

// flagOriginName is the name of the origin of Flags.Origin.
const flagOriginName = "app"

// FromFlags returns the configuration of a start without a file: the defaults,
// one origin called app and one route called default. The error is an Errors.
func FromFlags(f Flags) (*Config, error) {
	c := Default()
	r := newReport(newSource(""))
	f.apply(c, r)
	return finish(c, r)
}

// Override sets what flags give in c and checks it again. A section or key of the file
// may then have no effect. That is no error: it is for a start without the flag. The
// error is an Errors, and then c is unchanged. Override must not run while c is being read.
func (c *Config) Override(f Flags) error {
	changed := *c
	changed.Routes = slices.Clone(c.Routes)
	r := newReport(c.src.clone())
	f.apply(&changed, r)
	done, err := finish(&changed, r)
	if err != nil {
		return err
	}
	*c = *done
	return nil
}

// apply sets what the flags give, and notes which flag it came from.
func (f Flags) apply(c *Config, r *report) {
	if f.Listen != "" {
		c.Listen = []Listen{{Address: f.Listen}}
		r.setByFlag("listen", "listen[0].address", flagListen, f.Listen)
	}
	if f.Admin != "" {
		c.Admin.Address = f.Admin
		r.setByFlag("admin", "admin.address", flagAdmin, f.Admin)
	}
	if f.Policy != "" {
		r.setByFlag("admission.policy", "admission.policy", flagPolicy, f.Policy)
		p, err := policy.Parse(f.Policy)
		if err != nil {
			p, err = policy.Parse(otherSeparator(f.Policy))
		}
		if err != nil {
			r.fail("admission.policy", "must be "+oneOf(policy.Names(nil)))
		} else {
			c.Admission.Policy = p
		}
	}
	if f.Origin != "" {
		f.applyOrigin(c, r)
	}
	c.fitMemory(&r.src, f.Memory)
	c.fitDisk(&r.src)
}

func (f Flags) applyOrigin(c *Config, r *report) {
	if at, given := r.src.places.at("origins"); len(c.Origins) > 0 && given && at.flag == "" {
		r.errs = append(r.errs, &FieldError{
			Path: flagOrigin, Value: shown(f.Origin), Want: "remove the flag: " + r.src.fileOf(at) + " has origins",
		})
		return
	}
	o := defaultOrigin()
	o.Name = flagOriginName
	const path = "origins." + flagOriginName + ".servers[0]"
	r.setByFlag("origins", path, flagOrigin, f.Origin)
	server, err := parseServer(f.Origin)
	if err != nil {
		r.fail(path, err.Error())
	}
	o.Servers = []Server{server}
	c.Origins = []Origin{o}
}

// setByFlag forgets the places in the section and notes that path is the flag's.
// Problems that the file had there stay.
func (r *report) setByFlag(section, path, flag, text string) {
	r.src.places.forget(section)
	r.src.places.set(path, place{flag: flag, text: text, scalar: true})
	for at := parent(path); at != ""; at = parent(at) {
		r.src.flagged[at] = true
	}
}
