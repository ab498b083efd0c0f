package lang

import grammarscala "github.com/tree-sitter/tree-sitter-scala/bindings/go"

func init() { register("scala", func() rules { return rules{grammar: grammarscala.Language} }) }
