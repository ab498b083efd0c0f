package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// disguises gives the forms in which a test looks for a value, by name. They are written
// down here apart from those that the program hides: a form that it forgets is to be found.
func disguises(value string) map[string]string {
	quoted, _ := json.Marshal(value)
	escaped := strings.Trim(string(quoted), `"`)
	twice, _ := json.Marshal(escaped)
	forms := map[string]string{
		"raw": value, "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"query": url.QueryEscape(value), "path": url.PathEscape(value), "%20": strings.ReplaceAll(url.QueryEscape(value), "+", "%20"),
		"JSON": escaped, "JSON in JSON": strings.Trim(string(twice), `"`),
	}
	for before, name := range []string{"base64", "base64 after 1", "base64 after 2"} {
		padded := append(make([]byte, before), value...)
		for len(padded)%3 != 0 {
			padded = padded[:len(padded)-1] // the last characters depend on what follows
		}
		text := base64.StdEncoding.EncodeToString(padded)[4*min(before, 1):] // the first on what goes before
		forms[name], forms[name+" for URLs"] = text, strings.NewReplacer("+", "-", "/", "_").Replace(text)
	}
	return forms
}

// displays gives the forms in which a program may print a value.
func displays(value string) map[string]string {
	forms := disguises(value)
	for before, name := range []string{"base64", "base64 after 1", "base64 after 2"} {
		text := []byte(strings.Repeat("<", before) + value + ">")
		forms[name], forms[name+" for URLs"] = base64.StdEncoding.EncodeToString(text), base64.URLEncoding.EncodeToString(text)
	}
	return forms
}

// halvesOf gives the two halves of a value: of one that is cut off neither may show.
func halvesOf(value string) map[string]string {
	middle := len(value) / 2
	return map[string]string{"its first half": value[:middle], "its second half": value[middle:]}
}

// leaks tells which values a text holds, and in which form.
func leaks(text string, values map[string]string) (found []string) {
	for name, value := range values {
		for form, needle := range disguises(value) {
			if strings.Contains(text, needle) {
				found = append(found, name+" ("+form+")")
			}
		}
		for form, needle := range halvesOf(value) {
			if strings.Contains(text, needle) {
				found = append(found, name+" ("+form+")")
			}
		}
	}
	return found
}
