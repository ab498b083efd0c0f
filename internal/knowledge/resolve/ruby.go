package resolve

// ruby: the whole repository is one module, in which types may be reopened.
type ruby struct{ plainRules }

var rubyTraits = traits{
	reopens:      true,
	flat:         true,
	implicitThis: true,
	constructors: []string{"initialize"},
	self:         set("self"),
	open:         '<',
	shut:         '>',
	builtin: set(`String Integer Float Symbol Array Hash Set Proc Range Regexp Time Date Struct Class Module Object BasicObject Kernel
		Comparable Enumerable File Dir IO Exception StandardError ArgumentError RuntimeError Math JSON Thread Mutex Logger nil`),
	common: set(`new each map select reject find first last size length count push pop shift add delete get set call to_s to_i to_a to_h
		to_sym to_json inspect name id value key keys values merge join split include? empty? nil? any? all? is_a? respond_to? send
		freeze dup clone open close read write run start stop save update create destroy find_by where order puts print raise require
		attr_accessor attr_reader private public format sort sort_by group_by reduce inject flatten compact uniq zip with tap then`),
}

func (ruby) traits(string) traits { return rubyTraits }

func (ruby) module(*World, *file) string { return "ruby" }

func (ruby) bind(*World, *file) {}
