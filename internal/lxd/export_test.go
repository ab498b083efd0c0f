package lxd

import "time"

// SetPatience changes how long a container that runs may take to get an address.
func (c *Containers) SetPatience(d time.Duration) { c.patience = d }
