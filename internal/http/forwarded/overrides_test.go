package forwarded

import (
	"os"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
)

func TestOverridesAreCanonicalNames(t *testing.T) {
	for _, name := range overrideNames() {
		bare := strings.TrimSuffix(name, "*")
		if field.Canonical(bare) != bare || !field.Usual(bare) || !field.ValidName(bare) {
			t.Errorf("%q: want a usual name in canonical form", name)
		}
		if !Overrides(bare) {
			t.Errorf("%q is in the list and overrides nothing", name)
		}
	}
}

// Fields that browsers and clients of APIs need are none of these.
func TestHonestFieldsOverrideNothing(t *testing.T) {
	for name := range strings.FieldsSeq(`Accept Accept-Encoding Accept-Language Authorization Cache-Control Content-Type Cookie Dnt Origin
		Pragma Priority Referer Sec-Fetch-Site Sec-Ch-Ua-Platform Upgrade-Insecure-Requests User-Agent X-Requested-With X-Csrf-Token
		X-Xsrf-Token X-Api-Key X-Auth-Token X-Request-Id X-Correlation-Id Traceparent Tracestate X-B3-Traceid X-Client-Version
		X-Nextjs-Data Next-Router-State-Tree Rsc Next-Action X-Inertia Hx-Request Turbo-Frame Destination Depth Translate
		Soapaction Idempotency-Key X-Amz-Date X-Amz-Content-Sha256 X-Goog-Api-Client X-Country-Code X-Device X-Server-Timing
		X-Vercel-Protection-Bypass X-Hub-Signature-256 Save-Data Viewport-Width X-Wap-Profile If-Match Range Te`) {
		if Overrides(name) {
			t.Errorf("%s: honest clients need it", name)
		}
	}
}

// The document lists them all, and no others.
func TestTheDocumentListsTheOverrides(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operating/origins.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "<!-- overrides -->")
	list, _, found := strings.Cut(list, "<!-- /overrides -->")
	if !found {
		t.Fatal("docs/operating/origins.md has no list between <!-- overrides --> and <!-- /overrides -->")
	}
	var got []string
	for name := range strings.FieldsSeq(list) {
		if name = strings.Trim(name, "`,."); name != "" {
			got = append(got, name)
		}
	}
	if want := overrideNames(); !slices.Equal(got, want) {
		t.Errorf("the document lists\n%q, want\n%q", got, want)
	}
}

// overrideNames returns the names for which Overrides is true, sorted; a * at the end
// stands for any ending.
func overrideNames() []string {
	var names []string
	for name := range overrides {
		names = append(names, name)
	}
	for _, start := range overrideStarts {
		names = append(names, start+"*")
	}
	slices.Sort(names)
	return names
}
