package config

// Fleet is what several edges of one site have in common.
type Fleet struct {
	// SecretFile is the path of a file with the secret that they share; "" is none. This package does not read the file.
	SecretFile string
}

func (f *Fleet) table() table {
	return table{
		live("secret_file", textual(&f.SecretFile, ""),
			"A file with the secret that the edges of a site share, of 32 bytes or more: an edge gives its sightings to one that has it (edgeproxy state fetch).").withExample("/etc/edgeproxy/fleet"),
	}
}
