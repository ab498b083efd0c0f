package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/pdftext"
)

// readPDFCommand reads a PDF file of a stranger's: workers start it for each.
const readPDFCommand = "read-pdf"

func (p *program) readPDF() *cobra.Command {
	return &cobra.Command{
		Use: readPDFCommand + " CACHE", Short: "Read a PDF file from standard input, for a worker", Hidden: true,
		Args: arguments(1, 1, "name the folder of the compiled reader"),
		RunE: func(_ *cobra.Command, args []string) error { return pdftext.Serve(p.in, p.out, args[0]) },
	}
}

// documents gives what reads attached documents: this program again, as a child for each. Nil
// where the program can't be found: models that open documents get them all the same.
func (a *assembly) documents() activities.Documents {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return pdftext.NewReader(self, readPDFCommand, filepath.Join(a.cfg.Data.Dir, "cache", "pdf"))
}
