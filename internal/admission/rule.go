package admission

import (
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom/counting"
)

// Policy is how a route admits responses to its cache; package policy has the table.
type Policy = policy.Policy

// Rule is a policy with its parameter.
type Rule = policy.Rule

// Verdict is the decision for one request.
type Verdict = policy.Verdict

// The policies; package policy says what each does.
const (
	Always    = policy.Always
	SecondHit = policy.SecondHit
	Counting  = policy.Counting
	Never     = policy.Never
)

// A generation of the counting filter counts to one more than any rule needs.
var _ = [1]struct{}{}[policy.MostMoreThan-(counting.Max-1)]
