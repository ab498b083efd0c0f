package pdftext_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/pdftext"
)

// The test's own program is its child too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "read" {
		if err := pdftext.Serve(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "hang" {
		time.Sleep(time.Minute)
		return
	}
	cache, err := os.MkdirTemp("", "pdftext")
	if err != nil {
		panic(err)
	}
	reader = pdftext.NewReader(os.Args[0], "read", cache)
	code := m.Run()
	_ = os.RemoveAll(cache)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var reader *pdftext.Reader

// written makes a PDF of what write writes.
func written(t *testing.T, write func(*fpdf.Fpdf)) []byte {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.AddPage()
	doc.SetFont("Helvetica", "", 12)
	write(doc)
	var out bytes.Buffer
	if err := doc.Output(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func plain(t *testing.T, text string) []byte {
	return written(t, func(doc *fpdf.Fpdf) { doc.Write(6, text) })
}

func picture(t *testing.T) []byte {
	t.Helper()
	var scan bytes.Buffer
	if err := png.Encode(&scan, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	return written(t, func(doc *fpdf.Fpdf) {
		doc.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "png"}, &scan)
		doc.ImageOptions("scan", 10, 10, 100, 0, false, fpdf.ImageOptions{}, 0, "")
	})
}

// assembled makes a PDF of objects, numbered from 1, of which the first is the catalogue.
func assembled(objects ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

// bomb is a page whose content unpacks to a gigabyte of commands.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	piece := bytes.Repeat([]byte("BT /F1 9 Tf (all work and no play) Tj ET "), 1<<15)
	for range 1 << 30 / len(piece) {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return assembled(
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()),
	)
}

func TestTextIsRead(t *testing.T) {
	t.Parallel()
	data := written(t, func(doc *fpdf.Fpdf) {
		doc.Write(6, "The budget is 42 crowns.\n")
		doc.Write(6, "Second line.")
		doc.AddPage()
		doc.Write(6, "On the other page.")
	})
	got, err := reader.Read(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	want := domain.DocumentText{Pages: 2, Text: "[page 1]\nThe budget is 42 crowns.\nSecond line.\n\n[page 2]\nOn the other page."}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLongTextIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	data := plain(t, strings.Repeat("The quick brown fox jumps over the lazy dog. ", 30_000))
	got, err := reader.Read(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Cut || len(got.Text) > 1<<20+200 || !strings.Contains(got.Text, fmt.Sprintf("[cut: the document has %d pages", got.Pages)) {
		t.Errorf("%d bytes of %d pages, cut %v, problem %q", len(got.Text), got.Pages, got.Cut, got.Problem)
	}
}

func TestWhatCantBeRead(t *testing.T) {
	t.Parallel()
	whole := plain(t, "Hello")
	loop := assembled("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>")
	tests := map[string]struct {
		data []byte
		want []domain.DocumentProblem
	}{
		"by a password":     {written(t, func(doc *fpdf.Fpdf) { doc.SetProtection(0, "open", "own"); doc.Write(6, "Hello") }), []domain.DocumentProblem{domain.DocumentEncrypted}},
		"pictures":          {picture(t), []domain.DocumentProblem{domain.DocumentPictures}},
		"nothing":           {nil, []domain.DocumentProblem{domain.DocumentBroken}},
		"a header alone":    {[]byte("%PDF-1.7\n"), []domain.DocumentProblem{domain.DocumentBroken}},
		"noise":             {append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0xff, 0, '<', '(', '['}, 5000)...), []domain.DocumentProblem{domain.DocumentBroken}},
		"cut off":           {whole[:60], []domain.DocumentProblem{domain.DocumentBroken}},
		"pages in a circle": {loop, []domain.DocumentProblem{domain.DocumentBroken, domain.DocumentPictures}},
		"nested too deep":   {assembled(strings.Repeat("[", 2_000_000)), []domain.DocumentProblem{domain.DocumentBroken, domain.DocumentSlow}},
		"a bomb":            {bomb(t), []domain.DocumentProblem{domain.DocumentSlow, domain.DocumentBroken}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reader.Read(t.Context(), tt.data)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if got.Problem == want && got.Text == "" {
					return
				}
			}
			t.Errorf("got %.300v, want a problem of %v", got, tt.want)
		})
	}
}

func TestAReaderThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := pdftext.NewReader(os.Args[0], "hang").Read(ctx, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 20*time.Second {
		t.Errorf("ended after %v with %v", time.Since(begun), err)
	}
}

func TestAReaderThatIsNotThereIsAFault(t *testing.T) {
	t.Parallel()
	if _, err := pdftext.NewReader("/nowhere/at/all").Read(t.Context(), nil); err == nil {
		t.Error("no error")
	}
}
