package journal

// Disk is what the journal does to the files of commands.
type Disk = disk

// System is the machine's disk.
func System() Disk { return system{} }

// OpenOn opens a journal on a disk.
func OpenOn(d Disk, folder, boot string) (*Journal, error) { return openOn(d, folder, boot) }
