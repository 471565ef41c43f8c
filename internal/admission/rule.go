package admission

import (
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/policy"
)

// The words of package policy that a caller of a Gate needs.
type (
	Policy  = policy.Policy
	Rule    = policy.Rule
	Verdict = policy.Verdict
)

// The policies; package policy says what each does.
const (
	Always    = policy.Always
	SecondHit = policy.SecondHit
	Counting  = policy.Counting
	Never     = policy.Never
)

// A generation of the counting filter counts one further than any rule asks for.
var _ = [1]struct{}{}[policy.MostMoreThan-(counting.Max-1)]
