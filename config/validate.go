package config

import (
	"slices"
	"strings"

	"edgeproxy/internal/route/setting"
)

// validator checks what the values of a Config mean.
type validator struct {
	*report
	c *Config
}

// checkFile checks what is an error in a file, but not after flags have changed it.
func checkFile(c *Config, r *report) {
	v := &validator{report: r, c: c}
	v.unusedSections()
	v.unusedMoreThan()
	v.unusedGateKeys()
}

// validate checks everything else, with flags applied.
func validate(c *Config, r *report) {
	v := &validator{report: r, c: c}
	v.windows()
	c.table().check(v, "")
	v.node()
	v.addresses()
	v.tls()
	v.origins()
	v.inherit()
	v.routes()
	v.gate()
	v.shadow()
	v.cache()
	v.limits()
	if c.CacheStatus.Send != setting.StatusToTrusted && len(c.CacheStatus.Trusted) > 0 && v.noErrorAt("cache_status") {
		v.fail("cache_status.trusted", "needs send: trusted as well, or remove the list")
	}
	v.compression()
	v.accessLog()
	v.metrics()
	v.tracing()
	v.addUnlessReported(slices.Concat(v.filters(), v.keyRules(), v.fieldRules(), v.matchedFields(), v.ownAnswers(), v.keysWithUsers()).Unique())
}

// node checks the node's name. It is a token of structured fields, which begins with a
// letter (RFC 9651 section 3.3.4).
func (v *validator) node() {
	const path = "node.name"
	name := v.c.Node.Name
	v.name(path, name)
	if v.noErrorAt(path) && (name[0]|0x20 < 'a' || name[0]|0x20 > 'z') {
		v.fail(path, "must be a name that begins with a letter")
	}
}

const wantName = "must be a name of 1 to 64 letters, digits, '-', '.' and '_'"

// name checks a name that stands in labels, logs and header fields.
func (v *validator) name(path, name string) {
	if v.noErrorAt(path) && !validName(name) {
		v.fail(path, wantName)
	}
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("-._", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// maxCount is far above any use, and small enough that adding never overflows.
const maxCount = 10_000_000
