//go:build !unix

package disk

func readOnlyFS(error) bool { return false }

// noSpace returns err: a full file system cannot be told from other errors here.
func noSpace(err error) error { return err }
