// Package archtest holds the plan of the house as tests: which package may import which,
// who may read the environment, and how long a file or a function may get.
package archtest
