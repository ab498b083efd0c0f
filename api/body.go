package api

import "io"

// timedBody lifts the read deadline once the body is read: after it the connection is only
// watched for the client's leaving, which may be hours.
type timedBody struct {
	io.ReadCloser
	done func()
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.done != nil {
		b.done()
		b.done = nil
	}
	return n, err
}
