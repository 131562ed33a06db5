package cluster

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Token lets one machine join a cluster once. It is a secret.
type Token struct {
	Cluster     string    `json:"c"`
	Address     string    `json:"a"` // host:port at which a member answers those who join
	Fingerprint string    `json:"f"` // of the cluster's authority, by which the member is known
	ID          string    `json:"i"`
	Secret      string    `json:"s"`
	Expires     time.Time `json:"e"`
	Witness     bool      `json:"w,omitempty"` // it lets in a witness only
}

// Errors that a caller branches on.
var (
	// ErrToken: a text is no token, or was copied in part.
	ErrToken = errors.New("this is no join token, or a part of one; copy all of what `jaque cluster token` printed")
	// ErrUsed: somebody has joined with the token, or it is not known.
	ErrUsed = errors.New("the token was used already, or was never given out here; make another one with `jaque cluster token`")
	// ErrExpired: the token's time is over.
	ErrExpired = errors.New("the token has expired; make another one with `jaque cluster token`")
)

// tokenPrefix lets people, and scanners for secrets, see what the text is.
const tokenPrefix = "jaque-join-"

// String is the token as it is handed to the other machine: without blanks, with a
// checksum.
func (t *Token) String() string {
	text, _ := json.Marshal(t) // strings and a time
	text = append(text, checksum(text)...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(text)
}

func checksum(text []byte) []byte {
	sum := crc32.ChecksumIEEE(text)
	return []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}

// ParseToken reads a token. It fails with ErrToken.
func ParseToken(s string) (*Token, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), tokenPrefix)
	text, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil || len(text) < 4 {
		return nil, ErrToken
	}
	text, sum := text[:len(text)-4], text[len(text)-4:]
	t := &Token{}
	if !bytes.Equal(sum, checksum(text)) || json.Unmarshal(text, t) != nil || t.ID == "" || t.Secret == "" || t.Address == "" {
		return nil, ErrToken
	}
	return t, nil
}

// kept is a token as the member that gave it out keeps it: the secret itself is not
// there.
type kept struct {
	Sum     string    `json:"sum"` // SHA-256 of the secret
	Expires time.Time `json:"expires"`
	Address string    `json:"address"`
	Witness bool      `json:"witness,omitempty"`
}

const tokenFolder = "tokens"

// TokenLife is how long a token may be used.
const TokenLife = time.Hour

// NewToken gives out a token of a member that answers at an address. Any process of the
// data folder's member takes it.
func NewToken(data, address string, witness bool, now time.Time) (*Token, error) {
	m, err := Read(data)
	if err != nil {
		return nil, err
	}
	a, err := Authority(data)
	if err != nil {
		return nil, err
	}
	t := &Token{
		Cluster: m.Cluster, Address: address, Fingerprint: a.Fingerprint(), ID: strings.ToLower(rand.Text()[:12]), Secret: rand.Text(),
		Expires: now.Add(TokenLife).UTC().Truncate(time.Second), Witness: witness,
	}
	text, err := json.Marshal(kept{Sum: sumOf(t.Secret), Expires: t.Expires, Address: address, Witness: witness})
	if err == nil {
		err = replace(tokenPath(data, t.ID), text, data)
	}
	if err != nil {
		return nil, fmt.Errorf("give out a token: %w", err)
	}
	return t, nil
}

func sumOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func tokenPath(data, id string) string {
	return filepath.Join(folder(data), tokenFolder, filepath.Base(id)+".json")
}

// look finds a token that was given out and is not used. Whoever guesses ids learns
// nothing.
func look(data, id, secret string, now time.Time) (*kept, error) {
	text, err := os.ReadFile(tokenPath(data, id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrUsed
	}
	k := &kept{}
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the token: %w", err)
	case subtle.ConstantTimeCompare([]byte(k.Sum), []byte(sumOf(secret))) != 1:
		return nil, ErrUsed
	case !now.Before(k.Expires):
		return nil, ErrExpired
	}
	return k, nil
}

// use takes a token away. Only one caller gets it, whichever process it is in.
func use(data, id string) error {
	path := tokenPath(data, id)
	taken := path + ".used-" + rand.Text()[:8]
	if err := os.Rename(path, taken); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return ErrUsed
		}
		return fmt.Errorf("use the token: %w", err)
	}
	if err := os.Remove(taken); err != nil {
		return fmt.Errorf("use the token: %w", err)
	}
	return nil
}

// waiting returns the addresses at which tokens are to be answered now, and removes
// those that have expired.
func waiting(data string, now time.Time) (addresses map[string]bool, err error) {
	out, err := outstanding(data, now)
	addresses = map[string]bool{}
	for _, t := range out {
		addresses[t.Address] = true
	}
	return addresses, err
}

// outstanding returns the tokens that nobody has used, and removes those that have
// expired.
func outstanding(data string, now time.Time) (out []Out, err error) {
	files, err := os.ReadDir(filepath.Join(folder(data), tokenFolder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for tokens: %w", err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		path := filepath.Join(folder(data), tokenFolder, f.Name())
		text, err := os.ReadFile(path)
		var k kept
		switch {
		case errors.Is(err, os.ErrNotExist): // used in this moment
		case err != nil || json.Unmarshal(text, &k) != nil:
			return out, fmt.Errorf("the token in %s cannot be read; remove the file", path)
		case !now.Before(k.Expires):
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return out, fmt.Errorf("remove an expired token: %w", err)
			}
		default:
			out = append(out, Out{Address: k.Address, Expires: k.Expires, Witness: k.Witness})
		}
	}
	return out, nil
}
