package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// Report is the outcome of a run.
type Report struct {
	At      time.Time `json:"at"`
	Machine string    `json:"machine"`
	Rows    []Row     `json:"rows"`
}

// Row is one figure beside its reference. A reference or a limit of 0 means that there is none.
type Row struct {
	Name       string  `json:"name"`
	Unit       string  `json:"unit"`
	Ours       float64 `json:"ours"`
	OursP95    float64 `json:"ours_p95,omitempty"`
	Bare       float64 `json:"reference,omitempty"`
	BareP95    float64 `json:"reference_p95,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`          // ours to the reference
	Limit      float64 `json:"limit,omitempty"`          // the most that Ratio may be, or Ours where there is no reference
	LimitP95   float64 `json:"limit_p95,omitempty"`      // the most that OursP95 may be
	AtLeast    float64 `json:"at_least,omitempty"`       // the least that Ours may be
	LeastRatio float64 `json:"at_least_ratio,omitempty"` // the least that Ratio may be
	Reference  string  `json:"reference_is,omitempty"`
	Parts      shares  `json:"parts,omitempty"`           // what Ours is the sum of
	BareParts  shares  `json:"reference_parts,omitempty"` // what Bare is the sum of
}

// holds reports whether the figure is within its limits.
func (r Row) holds() bool {
	bound := r.Ours
	if r.Ratio > 0 {
		bound = r.Ratio
	}
	return (r.Limit == 0 || bound <= r.Limit) && (r.LimitP95 == 0 || r.OursP95 <= r.LimitP95) && r.Ours >= r.AtLeast && r.Ratio >= r.LeastRatio
}

// save writes the report as JSON, where a file is named for it.
func (r Report) save(path string) error {
	if path == "" {
		return nil
	}
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	return os.WriteFile(path, append(body, '\n'), 0o644)
}

func (r Report) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "figure\tours p50\tp95\treference p50\tp95\tratio\tlimit\t\t")
	for _, row := range r.Rows {
		verdict := ""
		if !row.holds() {
			verdict = "over"
		}
		fmt.Fprintf(table, "%s (%s)\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", row.Name, row.Unit,
			number(row.Ours), number(row.OursP95), number(row.Bare), number(row.BareP95), number(row.Ratio), row.limits(), verdict)
	}
	_ = table.Flush()
	for _, row := range r.Rows {
		if len(row.Parts) > 0 {
			fmt.Fprintf(w, "\n%s: %s; of the reference: %s", row.Name, row.Parts, row.BareParts)
		}
	}
	fmt.Fprintf(w, "\n%s, %s\n", r.Machine, r.At.Format(time.RFC3339))
}

func (r Row) limits() string {
	switch {
	case r.AtLeast > 0:
		return "≥ " + number(r.AtLeast)
	case r.LeastRatio > 0:
		return "≥ " + number(r.LeastRatio) + " ×"
	case r.LimitP95 > 0:
		return "≤ " + number(r.Limit) + " / " + number(r.LimitP95)
	case r.Ratio > 0 && r.Limit > 0:
		return "≤ " + number(r.Limit) + " ×"
	case r.Limit > 0:
		return "≤ " + number(r.Limit)
	}
	return ""
}

func number(f float64) string {
	switch {
	case f == 0:
		return ""
	case f < 10:
		return strconv.FormatFloat(f, 'f', 2, 64)
	default:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
}

// times are durations of one kind.
type times []time.Duration

// at gives a percentile in milliseconds.
func (t times) at(percent int) float64 {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Clone(t)
	slices.Sort(sorted)
	place := min(len(sorted)*percent/100, len(sorted)-1)
	return float64(sorted[place]) / float64(time.Millisecond)
}

// compare makes the row of two measurements that were taken alternately.
func compare(name string, ours, bare times, reference string, limit float64) Row {
	row := Row{
		Name: name, Unit: "ms", Ours: ours.at(50), OursP95: ours.at(95), Bare: bare.at(50), BareP95: bare.at(95),
		Limit: limit, Reference: reference,
	}
	if row.Bare > 0 {
		row.Ratio = row.Ours / row.Bare
	}
	return row
}
