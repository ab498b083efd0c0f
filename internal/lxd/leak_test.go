package lxd_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing may go on working once all tests are over.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
