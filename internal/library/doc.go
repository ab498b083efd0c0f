// Package library is what a project's work is written down in: skills, which are playbooks for
// models; artifacts, which are documents and bundles of files with all their versions; and
// memories, short notes that later turns are offered. It says what is fit to be kept, whoever
// writes it, a person through the API or a model through a tool. Who may is decided before.
package library
