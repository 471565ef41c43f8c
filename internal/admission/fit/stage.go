package fit

const (
	// stageShare is what part of a memory the stage is: one of so many. The sweep of test/sweep chose it.
	stageShare = 10

	// objectShare is what part of the rest the largest object may be: one of so many.
	objectShare = 4

	// LeastStage is the least size of a stage in bytes: enough for a few small responses with their headers.
	LeastStage = 4 << 10
)

// Stage returns the bytes of the stage in a memory of so many bytes that takes bodies of up to largest bytes: a tenth of it, less
// where the largest body needs the room, and 0 if nothing of use is left.
func Stage(memory, largest int64) int64 {
	stage := min(memory/stageShare, memory-objectShare*largest)
	if stage < LeastStage {
		return 0
	}
	return stage
}

// LargestBeside returns the bytes of the largest body that leaves a memory of so many bytes its whole stage.
func LargestBeside(memory int64) int64 { return (memory - memory/stageShare) / objectShare }
