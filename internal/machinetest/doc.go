// Package machinetest holds tests of commands on machines in which everything fails that can:
// agents, shims, APIs and workers are killed, networks cut, posts repeated, disks full. The
// programs are the real ones, harvest and harvest-agent, on real servers. Whatever happens, a
// command runs at most once, ends once, and with the output that it wrote; it is unknown only
// where nobody can know; and nothing that it started is left behind.
package machinetest
