package domain

// Bar says why nothing is done any more in the name of a person who asked for it: an action or a
// command runs with the rights that its person has then. "" for nothing.
type Bar string

// What keeps a person out.
const (
	BarDisabled Bar = "disabled" // the account is
	BarOutside  Bar = "outside"  // of the group of the project
)

// Says tells of a person of that name what b stands for, in words that go on in a sentence.
func (b Bar) Says(name string) string {
	if b == BarDisabled {
		return "the account of " + name + ", who asked for it, is disabled"
	}
	return name + ", who asked for it, may not see the project any more"
}
