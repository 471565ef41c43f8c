package page

// Library is uPlot as it was released, for other pages of ours: its script, its style, and the licence that every copy has to carry.
func Library() (script, style, licence string) { return uplotScript, uplotStyle, uplotLicense }
