package dashboard

import (
	"crypto/sha256"
	_ "embed" // the files below
	"encoding/base64"
	"net/http"
	"strings"

	"edgeproxy/internal/ops/page"
)

var (
	//go:embed dashboard.html
	markup string
	//go:embed dashboard.css
	style string
	//go:embed dashboard.js
	mainScript string
	//go:embed limits.js
	limitsScript string
	//go:embed tiles.js
	tilesScript string
	//go:embed tiers.js
	tiersScript string
	//go:embed origins.js
	originsScript string
	//go:embed views.js
	viewsScript string
	//go:embed charts.js
	chartsScript string

	script = strings.NewReplacer(
		"  // {{limits}}\n", limitsScript, "  // {{tiles}}\n", tilesScript, "  // {{tiers}}\n", tiersScript, "  // {{origins}}\n", originsScript,
		"  // {{views}}\n", viewsScript, "  // {{charts}}\n", chartsScript,
	).Replace(mainScript)
)

// Handler answers GET and HEAD with the page. token says whether the listener wants the admin token: the page then asks the
// reader for it first, because a browser reports a 401 as an error. It is safe for concurrent use.
func Handler(token bool) http.Handler {
	document, policy := compose(token)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "same-origin") // no-referrer would make the Origin of a purge null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(document) // a client that has left is no fault of ours
	})
}

// compose puts the files into one document, and returns the policy that fits it.
func compose(token bool) (document []byte, policy string) {
	chartScript, chartStyle, licence := page.Library()
	wanted := "none"
	if token {
		wanted = "required"
	}
	text := strings.NewReplacer(
		"{{token}}", wanted,
		"{{chart-style}}", chartStyle, "{{style}}", style, "{{chart-script}}", chartScript, "{{script}}", script, "{{licence}}", licence,
	).Replace(markup)
	// Content Security Policy Level 3. No framing, so that nobody lays a page of theirs over the buttons.
	policy = "default-src 'none'; script-src " + digest(chartScript) + " " + digest(script) +
		"; style-src " + digest(chartStyle) + " " + digest(style) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
	return []byte(text), policy
}

// digest is the source expression that allows an inline element with this text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
