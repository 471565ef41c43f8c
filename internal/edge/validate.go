package edge

import (
	"os"
	"slices"
	"time"

	"edgeproxy/config"
)

// Validate returns as an error what Faults finds in a configuration that is right otherwise.
func Validate(c *config.Config) error { return validateBeside(c, nil) }

// Faults checks what the config package cannot: whether the files that settings name hold what they should (certificates, tokens,
// users, pages), and whether directories and files can be written to. It leaves nothing behind: a file that
// it creates as a probe is removed. It is a config.Further.
func Faults(c *config.Config) config.Errors { return faultsBeside(c, nil) }

// validateBeside is Validate, for a reload too. running is the configuration in force, nil at a start.
func validateBeside(c, running *config.Config) error {
	if faults := faultsBeside(c, running); len(faults) > 0 {
		return faults
	}
	return nil
}

// faultsBeside is Faults, for a reload too.
func faultsBeside(c, running *config.Config) config.Errors {
	return slices.Concat(accessFaults(c), pageFaults(c), tokenFaults(c), certificateFaults(c), acmeFaults(c, running), spoolFaults(c),
		diskFaults(c, running), openFaults(c, running), originFaults(c))
}

// Warnings returns the warnings of c itself, and those about files that everybody can read, about certificates, and about
// origins that are this proxy.
func Warnings(c *config.Config) []config.Warning {
	out := slices.Concat(c.Warnings(), loopWarnings(c), accessWarnings(c), certificateWarnings(c, time.Now()))
	const token = "everybody on this machine can read the token and purge with it: must have mode 0600 or 0640"
	for _, file := range []struct{ key, path, text string }{
		{tokenFileKey, c.Admin.TokenFile, token},
		{purgeTokenFileKey, c.Purge.TokenFile, token},
		{secretFileKey, c.Fleet.SecretFile, "everybody on this machine can read the secret of the fleet: must have mode 0600 or 0640"},
	} {
		if info, err := os.Stat(file.path); file.path != "" && err == nil && info.Mode().Perm()&0o004 != 0 {
			out = append(out, c.Warn(file.key, file.text))
		}
	}
	return out
}
