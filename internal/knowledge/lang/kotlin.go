package lang

import grammarkotlin "github.com/tree-sitter-grammars/tree-sitter-kotlin/bindings/go"

func init() { register("kotlin", func() rules { return rules{grammar: grammarkotlin.Language} }) }
