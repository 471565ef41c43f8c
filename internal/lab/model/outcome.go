package model

// Outcome is the result of one request.
type Outcome uint8

// The outcomes. The first three and DiskHit are hits; the four after them are fills, by whether the response was kept. With a
// disk, the disk is the main part.
const (
	Hit       Outcome = iota + 1 // found in the main part; with a disk, in the memory
	StageHit                     // found in the stage, and stays there
	Promoted                     // found in the stage, and written into the main part
	Stored                       // fetched, and written into the main part
	HeldBack                     // fetched, and not kept, because of admission
	Staged                       // fetched, held back from the main part, kept in the stage
	TooLarge                     // fetched; larger than may be stored
	HeadMiss                     // a HEAD that no stored object answers: no fill
	DiskHit                      // found on the disk
	Validated                    // found in the main part, expired, and validated by the origin

	outcomes

	missed Outcome = 0 // nothing stored answers, and what becomes of the request is not known yet
)

// String returns the word for the outcome.
func (o Outcome) String() string {
	names := [outcomes]string{
		Hit: "hit", StageHit: "stage-hit", Promoted: "promoted", Stored: "stored",
		HeldBack: "held-back", Staged: "staged", TooLarge: "too-large", HeadMiss: "head-miss", DiskHit: "disk-hit", Validated: "validated",
	}
	if o >= outcomes || names[o] == "" {
		return "unknown"
	}
	return names[o]
}
