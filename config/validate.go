package config

import (
	"net"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// validator checks what the values of a Config mean.
type validator struct {
	*report
	c *Config
}

// checkFile checks what only a file can get wrong, before flags are put over it.
func checkFile(c *Config, r *report) {
	v := &validator{report: r, c: c}
	v.usedSections()
	v.usedMoreThan()
	v.usedGate()
}

// validate checks everything else.
func validate(c *Config, r *report) {
	v := &validator{report: r, c: c}
	v.node()
	v.addresses()
	v.origins()
	v.routes()
	v.windows()
	v.gate()
	v.shadow()
	v.cache()
	v.limits()
	if strings.ContainsFunc(c.AccessLog.Path, unicode.IsControl) {
		v.fail("access_log.path", `want a file, "-" for standard output, or ""`)
	}
}

// node checks the node's name, which is a token of structured fields (RFC 9651
// section 3.3.4): they begin with a letter.
func (v *validator) node() {
	const path = "node.name"
	name := v.c.Node.Name
	v.name(path, name)
	if v.sound(path) && (name[0]|0x20 < 'a' || name[0]|0x20 > 'z') {
		v.fail(path, "want a name that begins with a letter")
	}
}

const wantName = "want a name of 1 to 64 letters, digits, '-', '.' and '_'"

// name checks a name of ours: it stands in labels, logs and header fields.
func (v *validator) name(path, name string) {
	if v.sound(path) && !validName(name) {
		v.fail(path, wantName)
	}
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("-._", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// addresses checks what is listened on.
func (v *validator) addresses() {
	if len(v.c.Listen) == 0 && v.sound("listen") {
		v.fail("listen", "want at least one address, or no such key")
	}
	taken := map[string]string{}
	for i, l := range v.c.Listen {
		v.address(child(item("listen", i), "address"), l.Address, taken)
	}
	v.address("admin.address", v.c.Admin.Address, taken)
	if v.sound("admin.address") && !loopback(v.c.Admin.Address) {
		v.fail("admin.address", "want a loopback host, such as 127.0.0.1: a token, which others would need, is "+notYet)
	}
	if v.c.Metrics.Address != "" {
		v.address("metrics.address", v.c.Metrics.Address, taken)
	}
}

// address checks one address and that no other listener has it; taken maps those
// so far to their paths.
func (v *validator) address(path, address string, taken map[string]string) {
	switch {
	case !v.sound(path):
		return
	case !v.src.given(path) && address == "":
		v.fail(path, "missing, "+wantAddress)
		return
	case strings.HasPrefix(address, "unix:"):
		v.fail(path, "a socket is "+notYet+", "+wantAddress)
		return
	case !validAddress(address):
		v.fail(path, wantAddress)
		return
	}
	host, port, _ := net.SplitHostPort(address)
	key := net.JoinHostPort(strings.ToLower(host), port)
	if other, ok := taken[key]; ok && port != "0" {
		if !v.src.given(path) {
			path, other = other, path // the default was there first
		}
		v.fail(path, "want an address of its own, this one is that of "+other)
	}
	taken[key] = path
}

// maxCount is far above any use and far below where adding would overflow.
const maxCount = 10_000_000

// count checks that n is in a range.
func (v *validator) count(path string, n, least, most int) {
	if (n < least || n > most) && v.sound(path) {
		v.fail(path, "want "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
}

// positive checks that d is above 0.
func (v *validator) positive(path string, d time.Duration) {
	if d <= 0 && v.sound(path) {
		v.fail(path, "want more than 0s")
	}
}

// atLeast checks that s is not below least.
func (v *validator) atLeast(path string, s, least Size) {
	if s < least && v.sound(path) {
		v.fail(path, "want at least "+least.String())
	}
}
