//go:build !race

package disk

// killStride is how many calls TestAKillAtEachCall goes on by.
const killStride = 1

// damageStride is how many bytes apart TestDamageGivesNoWrongByte damages a file.
const damageStride = 512
