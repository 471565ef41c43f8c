package model

// Result has the counters of a Run. Counts of bytes are of whole objects, each with its largest size; a HEAD counts none. The
// JSON names are those of the report of simulate.
//
//	Requests = Hits + Validations + OriginRequests
//	OriginRequests = (Writes - Promotions) + HeldBack + TooLarge + HeadMisses
//	Writes = Objects + Evictions + Expired
type Result struct {
	Requests     int64 `json:"requests"`
	RequestBytes int64 `json:"request_bytes"`

	// Hits are answered from the main part, the stage or a disk; the ratios are 0 where
	// there was nothing.
	Hits         int64   `json:"hits"`
	HitBytes     int64   `json:"hit_bytes"`
	HitRatio     float64 `json:"hit_ratio"`
	ByteHitRatio float64 `json:"byte_hit_ratio"`

	// Writes go into the main part: stored at once, or promoted from the stage. With a disk, the disk is the main part;
	// MemoryWrites are copies from there.
	Writes     int64 `json:"writes"`
	WriteBytes int64 `json:"write_bytes"`

	// HeldBack counts fills that admission kept out of the main part, in the stage or not; one key may count several times.
	HeldBack      int64 `json:"held_back"`
	HeldBackBytes int64 `json:"held_back_bytes"`

	// Regret counts fills of a key whose fill before was held back within the window, and that has not been written since. It is
	// exact here, even with filters. The window of a memory that never forgets never ends.
	Regret      int64 `json:"regret"`
	RegretBytes int64 `json:"regret_bytes"`

	// TooLarge counts fills of objects larger than may be stored.
	TooLarge int64 `json:"too_large"`

	// HeadMisses counts HEADs that nothing stored answered. Their answer is not
	// stored either, and has no bytes.
	HeadMisses int64 `json:"head_misses,omitempty"`

	// Validations were answered with what is stored, after the origin had said, without a body, that it still holds. They are neither
	// hits nor among OriginRequests.
	Validations     int64 `json:"validations,omitempty"`
	ValidationBytes int64 `json:"validation_bytes,omitempty"`

	OriginRequests int64 `json:"origin_requests"`
	OriginBytes    int64 `json:"origin_bytes"`

	// PeerRequests went from one edge of a fleet to another, and PeerBytes are those of the responses.
	PeerRequests int64 `json:"peer_requests,omitempty"`
	PeerBytes    int64 `json:"peer_bytes,omitempty"`

	// StageWrites counts objects put into the stage, Promotions those of them that were written into the main part.
	StageWrites     int64 `json:"stage_writes"`
	StageWriteBytes int64 `json:"stage_write_bytes"`
	Promotions      int64 `json:"promotions"`

	// DiskHits, of Hits, are answered from the disk. All of these are 0 without one.
	DiskHits     int64 `json:"disk_hits,omitempty"`
	DiskHitBytes int64 `json:"disk_hit_bytes,omitempty"`

	// DiskWriteBytes is all that was written to the disk: admitted objects, with heads and up to whole pages, and rewritten
	// records, which are DiskRewrittenBytes. WriteAmplification is DiskWriteBytes by WriteBytes.
	DiskWriteBytes     int64   `json:"disk_write_bytes,omitempty"`
	DiskRewrittenBytes int64   `json:"disk_rewritten_bytes,omitempty"`
	WriteAmplification float64 `json:"write_amplification,omitempty"`

	MemoryWrites     int64 `json:"memory_writes,omitempty"`
	MemoryWriteBytes int64 `json:"memory_write_bytes,omitempty"`

	// Objects are in the main part now. Evictions left it to make room, StoresNeverHit of them without a hit. Expired left it because
	// they could be neither used nor validated any more.
	Objects        int64 `json:"objects_held"`
	Evictions      int64 `json:"evictions"`
	StoresNeverHit int64 `json:"stores_never_hit"`
	Expired        int64 `json:"expired,omitempty"`

	// Rotations is how often the window was rotated.
	Rotations int64 `json:"rotations"`

	// WindowObjects is how many objects the full cache holds, as a fitted window has estimated it by the end of the trace.
	WindowObjects int64 `json:"window_objects,omitempty"`
	WindowRoom    int64 `json:"-"`

	// FalsePositiveRatio is the share of sightings of unseen keys that the filter took for seen, and ExpectedFalsePositiveRatio
	// the share that its fill at those moments predicted. Nil without a filter, or if no key was unseen.
	FalsePositiveRatio         *float64 `json:"false_positive_ratio,omitempty"`
	ExpectedFalsePositiveRatio *float64 `json:"expected_false_positive_ratio,omitempty"`

	// FalseNegatives counts sightings that the filter denied although the window had one of the same key: 0, or the filter is
	// wrong.
	FalseNegatives int64 `json:"false_negatives,omitempty"`

	// FilterBytes is the memory of the filter, 0 without one.
	FilterBytes int64 `json:"filter_bytes,omitempty"`
}

// ratio returns part/whole, 0 if whole is 0.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
