//go:build race

package disk

// killStride is how many calls TestAKillAtEachCall goes on by. The race detector sees all that there is to see in fewer kills, and makes each take ten times
// as long; without it the test comes to every call.
const killStride = 7

// damageStride is how many bytes apart TestDamageGivesNoWrongByte damages a file, for the same reason.
const damageStride = 8192 + 512
