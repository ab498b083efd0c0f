package domain

import "fmt"

// PDFType is the MIME type of the documents whose text is read.
const PDFType = "application/pdf"

// DocumentText is what could be read of a document that a person attached.
type DocumentText struct {
	Pages   int             `json:"pages"`   // of the document; 0 where they could not be counted
	Text    string          `json:"text"`    // "" where Problem is set
	Cut     bool            `json:"cut"`     // Text ends before the document does, and says so
	Problem DocumentProblem `json:"problem"` // why there is no text; "" where there is
}

// DocumentProblem says why no text could be read of a document.
type DocumentProblem string

// The reasons for which a document has no text.
const (
	DocumentEncrypted DocumentProblem = "encrypted" // by a password, or in a way that is not known
	DocumentBroken    DocumentProblem = "broken"
	DocumentPictures  DocumentProblem = "pictures" // of text, as scanners make them
	DocumentSlow      DocumentProblem = "slow"     // reading it took more time than it may
	DocumentUnread    DocumentProblem = "unread"   // by a fault of ours: it may be read later
)

// reasons say each problem to people and models.
var reasons = map[DocumentProblem]string{
	DocumentEncrypted: "it is encrypted",
	DocumentBroken:    "it is damaged",
	DocumentPictures:  "its pages are pictures",
	DocumentSlow:      "reading it took too long",
	DocumentUnread:    "it could not be opened here",
}

// Note says the problem to people and models, for a document of that name; "" for none.
func (p DocumentProblem) Note(name string) string {
	if p == "" {
		return ""
	}
	return fmt.Sprintf("no text could be read from %s: %s", Visible(name), reasons[p])
}
