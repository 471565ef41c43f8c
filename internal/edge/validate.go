package edge

import (
	"errors"
	"os"
	"slices"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom"
)

// Validate returns as an error what Faults finds in a configuration that is right otherwise.
func Validate(c *config.Config) error { return validateBeside(c, nil) }

// Faults checks what the config package cannot: whether filters of these sizes can be built, whether key,
// header and match rules are valid, whether the files that settings name hold what they should (certificates, tokens,
// users, pages), and whether directories and files can be written to. It leaves nothing behind: a file that
// it creates as a probe is removed. It is a config.Further: without whole, filters are not checked, since their sizes depend
// on other settings.
func Faults(c *config.Config, whole bool) config.Errors {
	if whole {
		return append(filterFaults(c), settingFaults(c, nil)...)
	}
	return settingFaults(c, nil)
}

// validateBeside is Validate, for a reload too. running is the configuration in force, nil at a start.
func validateBeside(c, running *config.Config) error {
	if faults := append(filterFaults(c), settingFaults(c, running)...); len(faults) > 0 {
		return faults
	}
	return nil
}

// filterFaults checks whether filters of these sizes can be built.
func filterFaults(c *config.Config) (faults config.Errors) {
	for _, f := range []struct {
		section string
		filter  *admission.FilterOptions
		layout  bloom.Layout
		name    string
	}{
		{"admission.second_hit", window(c.Admission.SecondHit), bloom.SplitBlock, admission.SecondHitFilter},
		{"admission.counting", window(c.Admission.Counting.Window), bloom.CountingLine, admission.CountingFilter},
	} {
		if f.filter.Fitted { // its capacity is the largest that it may be fitted to
			f.filter.Capacity = admission.MostKeys(f.name, largestMoreThan(c), gatedTierBytes(c))
		}
		for _, fault := range joinedErrors[*bloom.OptionError](f.filter.Options.Validate(f.layout)) {
			option, want := fault.Option, fault.Want
			if f.filter.Fitted && option == "capacity" { // a fitted window has no capacity in the file
				option, want = "false_positive_rate", "a higher one, or window: fixed; a window that fits this cache may need more keys than one filter holds at this rate"
			}
			faults = append(faults, c.Fault(f.section+"."+option, "must be "+want))
		}
	}
	return faults
}

// settingFaults checks rules, and files that settings name.
func settingFaults(c, running *config.Config) (faults config.Errors) {
	faults = append(faults, keyFaults(c)...)
	faults = append(faults, headerFaults(c)...)
	faults = append(faults, matchFaults(c)...)
	faults = append(faults, answerFaults(c)...)
	faults = append(faults, accessFaults(c)...)
	faults = append(faults, pageFaults(c)...)
	faults = append(faults, tokenFaults(c)...)
	faults = append(faults, certificateFaults(c)...)
	faults = append(faults, acmeFaults(c, running)...)
	faults = append(faults, spoolFaults(c)...)
	faults = append(faults, diskFaults(c, running)...)
	faults = append(faults, openFaults(c, running)...)
	return append(faults, originFaults(c)...)
}

// Warnings returns the warnings of c itself, and those about files that everybody can read, about certificates, and about
// origins that are this proxy.
func Warnings(c *config.Config) []config.Warning {
	out := slices.Concat(c.Warnings(), loopWarnings(c), accessWarnings(c), certificateWarnings(c, time.Now()))
	for _, token := range []struct{ key, path string }{{tokenFileKey, c.Admin.TokenFile}, {purgeTokenFileKey, c.Purge.TokenFile}} {
		if info, err := os.Stat(token.path); token.path != "" && err == nil && info.Mode().Perm()&0o004 != 0 {
			out = append(out, c.Warn(token.key, "everybody on this machine can read the token and purge with it: must have mode 0600 or 0640"))
		}
	}
	return out
}

// joinedErrors returns the errors of one type that err joins.
func joinedErrors[E error](err error) (out []E) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			out = append(out, joinedErrors[E](e)...)
		}
		return out
	}
	if one, ok := errors.AsType[E](err); ok {
		out = append(out, one)
	}
	return out
}
