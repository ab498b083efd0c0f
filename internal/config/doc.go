// Package config reads harvest.toml: plain data with defaults, checked as a whole.
//
// The file is the Configuration Reference that existing servers use, with additions.
// Values may hold ${NAME} for an environment variable and $${ for a literal "${"; they are
// expanded after parsing, so a value can't change the file's structure. All problems of a
// file are reported at once, each with its line. Sections that belong to parts not built
// yet are checked like the others and come back as Notices.
package config
