// Package pdftext reads the text of PDF files that strangers made.
//
// They are read by PDFium, compiled to WebAssembly, in a child process that reads one file and
// ends. The sandbox has no file system, no network and a bounded memory; the process has no
// environment, and is killed when its time is over. So what a file does to its reader ends
// there: nothing of it is left in the process that asked.
package pdftext
