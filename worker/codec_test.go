package worker_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/worker"
)

func newCodec(t testing.TB, keys ...worker.Key) *worker.Codec {
	t.Helper()
	codec, err := worker.NewCodec(keys)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func encodeOne(t testing.TB, codec *worker.Codec, p *commonpb.Payload) *commonpb.Payload {
	t.Helper()
	out, err := codec.Encode([]*commonpb.Payload{p})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func jsonPayload(data string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(data)}
}

func TestCodecRoundTrip(t *testing.T) {
	t.Parallel()
	codec := newCodec(t, worker.NewKey(), worker.NewKey())
	rapid.Check(t, func(t *rapid.T) {
		want := &commonpb.Payload{
			Metadata: rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Byte())).Draw(t, "metadata"),
			Data:     bytes.Repeat(rapid.SliceOf(rapid.Byte()).Draw(t, "data"), rapid.IntRange(0, 200).Draw(t, "times")),
		}
		encoded, err := codec.Encode([]*commonpb.Payload{want})
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := codec.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if !sameBytes(decoded[0], want) {
			t.Fatalf("got %v, want %v", decoded[0], want)
		}
	})
}

// sameBytes compares as the wire does, where nil and empty are one.
func sameBytes(a, b *commonpb.Payload) bool {
	options := proto.MarshalOptions{Deterministic: true}
	x, errX := options.Marshal(a)
	y, errY := options.Marshal(b)
	return errors.Join(errX, errY) == nil && bytes.Equal(x, y)
}

func TestCodecHidesAndCompresses(t *testing.T) {
	t.Parallel()
	codec := newCodec(t, worker.NewKey())
	secret := strings.Repeat("a secret of the customer; ", 1000)
	first, second := encodeOne(t, codec, jsonPayload(secret)), encodeOne(t, codec, jsonPayload(secret))
	if bytes.Contains(first.Data, []byte("secret")) {
		t.Error("the payload is readable")
	}
	if len(first.Data) > len(secret)/20 {
		t.Errorf("%d bytes were compressed to %d only", len(secret), len(first.Data))
	}
	if bytes.Equal(first.Data, second.Data) {
		t.Error("two encodings of one payload are equal: the nonce is not random")
	}
	noise := make([]byte, 10_000)
	_, _ = rand.Read(noise)
	if sealed := encodeOne(t, codec, &commonpb.Payload{Data: noise}); len(sealed.Data) > len(noise)+64 {
		t.Errorf("incompressible %d bytes grew to %d", len(noise), len(sealed.Data))
	}
}

func TestCodecRefusesTampering(t *testing.T) {
	t.Parallel()
	a, b := worker.NewKey(), worker.NewKey()
	codec := newCodec(t, a, b)
	whole := encodeOne(t, codec, jsonPayload(`{"query":"where is the door?"}`))
	cases := map[string]func(p *commonpb.Payload){
		"other key id": func(p *commonpb.Payload) { p.Metadata["harvest-key"] = []byte(a.ID) },
		"cut off":      func(p *commonpb.Payload) { p.Data = p.Data[:len(p.Data)-1] },
		"no body":      func(p *commonpb.Payload) { p.Data = p.Data[:12] },
		"no nonce":     func(p *commonpb.Payload) { p.Data = p.Data[:5] },
		"empty":        func(p *commonpb.Payload) { p.Data = nil },
		"longer":       func(p *commonpb.Payload) { p.Data = append(p.Data, 0) },
	}
	for name, alter := range cases {
		altered := proto.Clone(whole).(*commonpb.Payload)
		alter(altered)
		if _, err := codec.Decode([]*commonpb.Payload{altered}); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: error %v, want an invalid error", name, err)
		}
	}
	for i := range whole.Data {
		altered := proto.Clone(whole).(*commonpb.Payload)
		altered.Data[i] ^= 1
		if _, err := codec.Decode([]*commonpb.Payload{altered}); err == nil {
			t.Fatalf("a flipped bit in byte %d went unnoticed", i)
		}
	}
}

func TestCodecRotation(t *testing.T) {
	t.Parallel()
	old, next := worker.NewKey(), worker.NewKey()
	written := encodeOne(t, newCodec(t, old), jsonPayload(`"before"`))

	both := newCodec(t, old, next)
	decoded, err := both.Decode([]*commonpb.Payload{written})
	if err != nil || string(decoded[0].Data) != `"before"` {
		t.Fatalf("a payload of the old key: %v, %v", decoded, err)
	}
	if got := string(encodeOne(t, both, jsonPayload(`"after"`)).Metadata["harvest-key"]); got != next.ID {
		t.Errorf("encrypted with %q, want the last key %q", got, next.ID)
	}
	_, err = newCodec(t, next).Decode([]*commonpb.Payload{written})
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), old.ID) {
		t.Errorf("a payload of an unknown key: error %v, want one that names %s", err, old.ID)
	}
}

func TestCodecPassesOtherEncodings(t *testing.T) {
	t.Parallel()
	clear := jsonPayload(`"typed by an operator"`)
	decoded, err := newCodec(t, worker.NewKey()).Decode([]*commonpb.Payload{clear})
	if err != nil || !sameBytes(decoded[0], clear) {
		t.Errorf("got %v, %v; want the payload as it was", decoded, err)
	}
}

// A holder of the key could still write a frame that unpacks to gigabytes.
func TestCodecBoundsDecompression(t *testing.T) {
	t.Parallel()
	key := worker.NewKey()
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := packer.EncodeAll(make([]byte, 64<<20), []byte{1})
	block, err := aes.NewCipher(key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, aead.NonceSize())
	data := aead.Seal(nonce, nonce, bomb, []byte("harvest temporal payload\x00binary/harvest-v1\x00"+key.ID))
	_, err = newCodec(t, key).Decode([]*commonpb.Payload{{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte("binary/harvest-v1"), "harvest-key": []byte(key.ID)},
		Data:     data,
	}})
	if !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		t.Errorf("error %v, want the decoder's size limit", err)
	}
	_, err = newCodec(t, key).Encode([]*commonpb.Payload{{Data: make([]byte, 32<<20)}})
	if domain.CodeOf(err) != domain.CodeTooLarge {
		t.Errorf("encoding beyond the limit: error %v, want too_large", err)
	}
}

func TestFailuresAreEncrypted(t *testing.T) {
	t.Parallel()
	codec := newCodec(t, worker.NewKey())
	cause := temporal.NewNonRetryableApplicationError("the customer's secret", string(domain.CodeUpstream), nil)
	failure := codec.FailureConverter().ErrorToFailure(cause)
	wire, err := proto.Marshal(failure)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wire, []byte("secret")) {
		t.Errorf("the failure is readable: %s", wire)
	}
	var back *temporal.ApplicationError
	if err := codec.FailureConverter().FailureToError(failure); !errors.As(err, &back) || back.Message() != "the customer's secret" || back.Type() != "upstream" {
		t.Errorf("got %v, want the original failure", err)
	}
}

func TestCodecConcurrency(t *testing.T) {
	t.Parallel()
	codec := newCodec(t, worker.NewKey()).DataConverter()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			want := strings.Repeat(string(rune('a'+i)), 5000)
			for range 20 {
				var got string
				p, err := codec.ToPayload(want)
				if err == nil {
					err = codec.FromPayload(p, &got)
				}
				if err != nil || got != want {
					t.Errorf("round trip of %q: %v", want[:3], err)
				}
			}
		})
	}
	group.Wait()
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	rings := make([]worker.Keyring, 8)
	var group sync.WaitGroup
	for i := range rings {
		group.Go(func() {
			var err error
			if rings[i], err = worker.OpenKeyFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, ring := range rings {
		if ring.String() != rings[0].String() || len(ring) != 1 {
			t.Fatalf("processes that start at once see different keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".keys-*")); len(left) != 0 {
		t.Errorf("drafts were left behind: %v", left)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.OpenKeyFile(path); domain.CodeOf(err) != domain.CodeForbidden {
		t.Errorf("a file open to others: error %v, want forbidden", err)
	}
}

func TestParseKeyring(t *testing.T) {
	t.Parallel()
	a, b := worker.NewKey(), worker.NewKey()
	ring := worker.Keyring{a, b}
	parsed, err := worker.ParseKeyring("# comment\n\n" + ring.String())
	if err != nil || parsed.String() != ring.String() {
		t.Fatalf("got %v, %v; want the keys that were written", parsed, err)
	}
	for name, text := range map[string]string{
		"nothing":    "\n# only a comment\n",
		"no secret":  "k1\n",
		"short":      "k1 c2hvcnQ=\n",
		"not base64": "k1 !!!!\n",
		"twice":      worker.Keyring{a, a}.String(),
		"bad id":     strings.Replace(worker.Keyring{a}.String(), a.ID, "k/1", 1),
	} {
		if _, err := worker.ParseKeyring(text); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: error %v, want an invalid error", name, err)
		}
	}
}
