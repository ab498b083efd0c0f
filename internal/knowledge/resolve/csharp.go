package resolve

var csharpTraits = traits{
	reopens:      true,
	implicitThis: true,
	constructors: []string{""},
	self:         set("this"),
	open:         '<',
	shut:         '>',
	prefixes:     []string{"ref ", "out ", "in ", "params ", "readonly ", "this ", "async ", "global::"},
	wrappers:     set("Task ValueTask Nullable Lazy Func IOptions Maybe Result"),
	builtin: set(`int uint long ulong short ushort byte sbyte float double decimal bool char string object dynamic void var String Object
		Int32 Int64 Boolean Guid DateTime DateTimeOffset TimeSpan Exception Type Action List Dictionary HashSet IEnumerable IList
		ICollection IDictionary IReadOnlyList Array Console Math StringBuilder Stream CancellationToken JsonSerializer Convert func`),
	keeps: set("Where OrderBy OrderByDescending ToList ToArray AsEnumerable Take Skip Distinct Reverse Values Keys"),
	common: set(`ToString Equals GetHashCode Add Remove Contains Get Set Find Where Select Any All First FirstOrDefault ToList ToArray Count
		Dispose Close Open Read Write Invoke Run Start Stop Clear Insert Update Delete Save Load Create Build Execute Send Handle
		WriteLine Format Parse TryGetValue ContainsKey GetType Append Join Split Trim Map Init Reset Next Value Validate`),
}

var phpTraits = traits{
	implicitThis: false,
	uniqueFuncs:  true,
	constructors: []string{"__construct"},
	self:         set("self static"),
	open:         '<',
	shut:         '>',
	prefixes:     []string{"?", `\`},
	builtin: set(`int float string bool array object mixed void never null callable iterable true false stdClass Exception Closure
		DateTime DateTimeImmutable ArrayObject Countable Iterator Traversable JsonSerializable Throwable PDO func`),
	common: set(`get set add has find all first save delete update create make build handle run call count toArray toString render map
		filter each push pop where with load open close read write send name value key format validate execute query fetch boot register
		__construct __toString __get __set __call`),
}
