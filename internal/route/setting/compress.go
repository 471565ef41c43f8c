package setting

// Compress says which responses of origins are compressed, and how.
type Compress struct {
	Codings  []Coding // in the order of preference; none compresses nothing
	Types    []string // media types, in any case; text/* is every text type
	MinBytes int64    // a body that is known to be shorter stays as it is
	Level    Level
}

// Coding is a content coding (RFC 9110 section 8.4.1).
type Coding uint8

// The codings. Identity is the content as it is.
const (
	Identity Coding = iota
	Gzip            // RFC 1952
	Brotli          // RFC 7932
	Zstd            // RFC 8878

	Codings // the number of codings, Identity among them
)

// String is the coding as Content-Encoding and the configuration have it.
func (c Coding) String() string { return [Codings]string{"identity", "gzip", "br", "zstd"}[c] }

// Level says how much work is done for fewer bytes.
type Level uint8

// The levels.
const (
	LevelFastest Level = iota
	LevelDefault
	LevelBetter

	Levels // the number of levels
)

// String returns the word of l in the configuration.
func (l Level) String() string { return [Levels]string{"fastest", "default", "better"}[l] }
