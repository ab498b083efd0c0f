package shellpolicy

// Words gives the words of each command of a line as they are judged, and whether all of them
// are known in full, for tests.
func Words(line string) (commands [][]string, whole bool) {
	whole = true
	judge(line, func(words []word) string {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = w.text
			whole = whole && w.fixed
		}
		commands = append(commands, texts)
		return ""
	})
	return commands, whole
}
