package lxd

import (
	"encoding/binary"
	"net/netip"
)

// The options of bridges that say which addresses they have.
const (
	keyIPv4    = "ipv4.address"
	maxSubnets = 1 << 12 // are looked at from the one of the configuration on
)

// freeAddress gives the address of a new bridge: that of the configuration, or where a network
// has addresses of its subnet already, the same of the next subnet that is free. What is no
// address with a subnet ("auto", "none") is left to LXD, and so is IPv6.
func freeAddress(wanted string, all []Network) string {
	first, err := netip.ParsePrefix(wanted)
	if err != nil || !first.Addr().Is4() || first.Bits() == 0 {
		return wanted
	}
	var taken []netip.Prefix
	for _, n := range all {
		if p, err := netip.ParsePrefix(n.Config[keyIPv4]); err == nil {
			taken = append(taken, p.Masked())
		}
	}
	step := uint64(1) << (32 - first.Bits())
	bytes := first.Addr().As4()
	at := uint64(binary.BigEndian.Uint32(bytes[:]))
	for range maxSubnets {
		if at > 1<<32-1 {
			break
		}
		binary.BigEndian.PutUint32(bytes[:], uint32(at))
		next := netip.PrefixFrom(netip.AddrFrom4(bytes), first.Bits())
		if !overlaps(next, taken) {
			return next.String()
		}
		at += step
	}
	return wanted // LXD says what is wrong with it
}

func overlaps(p netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if p.Masked().Overlaps(t) {
			return true
		}
	}
	return false
}
