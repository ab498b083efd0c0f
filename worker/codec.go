package worker

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	"github.com/klauspost/compress/zstd"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The metadata of an encoded payload. Both values are part of the authenticated data.
const (
	metadataKeyID    = "harvest-key"
	payloadEncoding  = "binary/harvest-v1" // zstd or plain, then AES-256-GCM
	maxPayload       = 32 << 20            // bytes of a payload in clear; Temporal itself takes 2 MiB
	compressMinimum  = 128                 // bytes; below it compression only costs
	layoutPlain      = byte(0)             // first byte in clear: the rest is the payload
	layoutCompressed = byte(1)             // first byte in clear: the rest is a zstd frame of the payload
)

// Codec compresses and then encrypts every payload that leaves for Temporal, and undoes it.
// An encoded payload is a random nonce of 12 bytes followed by the AES-256-GCM sealing of
// one layout byte and the original payload with its metadata. The key's id stands in clear
// in the metadata and is authenticated, so that keys can be rotated.
//
// A Codec does no I/O and is safe for concurrent use.
type Codec struct {
	active string
	aeads  map[string]cipher.AEAD
	zip    *zstd.Encoder
	unzip  *zstd.Decoder
}

// NewCodec builds the codec of a keyring; its last key encrypts.
func NewCodec(keys Keyring) (*Codec, error) {
	if err := keys.check(); err != nil {
		return nil, err
	}
	c := &Codec{active: keys[len(keys)-1].ID, aeads: make(map[string]cipher.AEAD, len(keys))}
	for _, key := range keys {
		block, err := aes.NewCipher(key.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key.ID, err)
		}
		if c.aeads[key.ID], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("key %s: %w", key.ID, err)
		}
	}
	var err error
	// Payloads are small: a small window and one encoder keep the idle process small.
	c.zip, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("payload compression: %w", err)
	}
	c.unzip, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPayload), zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("payload compression: %w", err)
	}
	return c, nil
}

// DataConverter gives the converter of a Temporal client: JSON, then the codec.
func (c *Codec) DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
}

// FailureConverter gives the converter of a Temporal client that encrypts the messages and
// stack traces of failures as well. The types of failures stay in clear: they are domain codes.
func (c *Codec) FailureConverter() converter.FailureConverter {
	return temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter:          c.DataConverter(),
		EncodeCommonAttributes: true,
	})
}

// Encode implements converter.PayloadCodec.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	encoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := c.seal(p)
		if err != nil {
			return nil, err
		}
		encoded[i] = &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte(payloadEncoding),
				metadataKeyID:              []byte(c.active),
			},
			Data: data,
		}
	}
	return encoded, nil
}

// Decode implements converter.PayloadCodec. A payload in another encoding is given back as
// it is: an operator may start or signal a workflow from Temporal's own tools.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	decoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != payloadEncoding {
			decoded[i] = p
			continue
		}
		var err error
		if decoded[i], err = c.open(p); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

func (c *Codec) seal(p *commonpb.Payload) ([]byte, error) {
	clear, err := proto.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode payload: %w", err)
	}
	if len(clear) > maxPayload {
		return nil, domain.Errorf(domain.CodeTooLarge, "a payload of %d bytes is beyond %d; pass it by reference", len(clear), maxPayload)
	}
	body := c.layout(clear)
	aead := c.aeads[c.active]
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(body)+aead.Overhead())
	_, _ = rand.Read(nonce) // crypto/rand.Read never returns an error
	return aead.Seal(nonce, nonce, body, additionalData(c.active)), nil
}

// layout puts the layout byte before clear, compressed where that makes it smaller.
func (c *Codec) layout(clear []byte) []byte {
	if len(clear) >= compressMinimum {
		packed := c.zip.EncodeAll(clear, append(make([]byte, 0, len(clear)/2), layoutCompressed))
		if len(packed) <= len(clear) {
			return packed
		}
	}
	return append([]byte{layoutPlain}, clear...)
}

func (c *Codec) open(p *commonpb.Payload) (*commonpb.Payload, error) {
	id := string(p.GetMetadata()[metadataKeyID])
	aead, ok := c.aeads[id]
	if !ok {
		return nil, domain.Errorf(domain.CodeUnavailable, "a payload is encrypted with key %q, which this process does not have; add it to the encryption keys", id)
	}
	if len(p.GetData()) < aead.NonceSize() {
		return nil, domain.Errorf(domain.CodeInvalid, "an encrypted payload is cut off")
	}
	nonce, sealed := p.Data[:aead.NonceSize()], p.Data[aead.NonceSize():]
	body, err := aead.Open(nil, nonce, sealed, additionalData(id))
	if err != nil || len(body) == 0 {
		return nil, domain.Wrap(domain.CodeInvalid, err, "an encrypted payload was altered, or key %q is not the one that encrypted it", id)
	}
	clear := body[1:]
	switch body[0] {
	case layoutPlain:
	case layoutCompressed:
		if clear, err = c.unzip.DecodeAll(clear, nil); err != nil {
			return nil, domain.Wrap(domain.CodeInvalid, err, "an encrypted payload does not decompress within %d bytes", maxPayload)
		}
	default:
		return nil, domain.Errorf(domain.CodeInvalid, "an encrypted payload has the unknown layout %d; a newer version wrote it", body[0])
	}
	original := &commonpb.Payload{}
	if err := proto.Unmarshal(clear, original); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	return original, nil
}

// additionalData binds a ciphertext to its purpose, its format and its key's id.
func additionalData(keyID string) []byte {
	return []byte("harvest temporal payload\x00" + payloadEncoding + "\x00" + keyID)
}
