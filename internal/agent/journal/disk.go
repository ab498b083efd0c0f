package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what the journal does to the files of commands. It is a seam for the tests that cut the
// power: only what was brought to the disk is sure to be there then, and of the rest any part.
type disk interface {
	Create(path string, flag int) (*os.File, error)
	WriteAt(f *os.File, data []byte, at int64) (int, error)
	Sync(f *os.File) error
	MakeFolder(path string) error
	SyncFolder(path string) error
	Remove(path string) error
}

// system is the disk of the machine.
type system struct{}

func (system) Create(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|flag, 0o600)
}

func (system) WriteAt(f *os.File, data []byte, at int64) (int, error) { return f.WriteAt(data, at) }

func (system) Sync(f *os.File) error { return f.Sync() }

func (system) MakeFolder(path string) error { return os.Mkdir(path, 0o700) }

func (system) SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

func (system) Remove(path string) error { return os.Remove(path) }

// lasting makes a folder, with those above it, and brings to the disk that it is there: what
// stands in it is lost with it otherwise, brought to the disk or not.
func lasting(d disk, path string) error {
	above := filepath.Dir(path)
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(above); err != nil {
			if err := lasting(d, above); err != nil {
				return err
			}
		}
		if err := d.MakeFolder(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	// Also where it is there: who made it may have been killed before it was there for good.
	err := d.SyncFolder(above)
	if errors.Is(err, fs.ErrPermission) {
		return nil // it stands in a folder that is not ours to read
	}
	return err
}
