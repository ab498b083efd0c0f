// Package lang reads one source file into facts: its symbols, imports, and references,
// without looking at any other file.
//
// Extract parses with tree-sitter (package syntax) and walks the flat tree once. Each
// language is a file or two of its own with a table from node kinds to handlers; what no
// handler takes is walked through. The walker keeps the enclosing symbol, the enclosing
// types and the scopes of local names, so that a reference can say who makes it and, where
// the file itself tells, on what type: see domain.Reference for the notation. A new
// language is its file, a sample and the sample's golden.
//
// How the languages agree, for whoever resolves the references:
//
//   - A call that creates an object (new Foo(), Foo() in Python, Foo.new in Ruby) is a call
//     of Foo, as are super(…) and this(…) in constructors. A constructor is a method with
//     the type's own name, or with the language's: __init__, constructor, initialize.
//   - A call without a receiver may mean a function nested in an enclosing one, a method of
//     an enclosing type where the language allows it, the file, or an import, in that order.
//     Local says that it means a variable.
//   - RecvType of self, this and the like is the enclosing type, nested ones dotted; that of
//     super is the first base as written. A member of an unknown name is written as in
//     "http.DefaultClient", its call as in "pkg.New()".
//   - Types leave out what a call goes through: what may be null, Option, Promise, Future,
//     smart pointers; of a type parameter they give the bound. Functions are "func".
//   - Functions that are mentioned without being called (Java's Type::name, Kotlin's ::name,
//     names in C's tables of functions) are uses.
//   - Methods of anonymous classes and closures belong to the symbol that encloses them.
//   - Names of built-in types and functions are not references.
//
// Imports. Target and Name are the module and its member in Go (Name only for dot imports),
// Python, TypeScript, JavaScript ("default" for the default export), Rust and Scala. Java,
// Kotlin, C# aliases and PHP name a class whole: Target is all of it, Name only what a static
// import or a function import takes out. "*" is all members: of a namespace in C# and C++,
// of usingnamespace in Zig. Ruby, Lua, Bash, C and HCL have a Target only. A re-export is an
// import too.
//
// Members. Receiver holds enclosing types and functions. Namespaces of C++, C#, PHP and Java
// are not part of it, modules of Ruby, Rust and TypeScript are. Blocks of HCL are named as
// expressions name them: Receiver "aws_instance", Name "web"; Receiver "var", Name "region".
package lang

// Version changes whenever the same text gives other facts than before. It is part of the
// identity of parsed blobs.
const Version = "4"
