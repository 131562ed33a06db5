package bus

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// membersFile in the data folder keeps the names of the members: the server's own file
// has nothing but what it makes of them.
const membersFile = "members.json"

// memberNote is the content of that file.
type memberNote struct {
	Self    string   `json:"self"`
	Members []string `json:"members"`
}

// readNote returns an empty note if there is none that can be read.
func readNote(data string) (n memberNote) {
	text, err := os.ReadFile(filepath.Join(data, membersFile))
	if err != nil || json.Unmarshal(text, &n) != nil {
		return memberNote{}
	}
	return n
}

// keepNames notes who is a member, whenever that changes and all names are known.
func (p *peering) keepNames(v view) {
	n := memberNote{Self: p.server.Name()}
	for _, m := range v.Members {
		if memberID(m.Name) != m.id {
			return // not heard yet
		}
		n.Members = append(n.Members, m.Name)
	}
	if slices.Equal(n.Members, p.noted) {
		return
	}
	text, err := json.Marshal(n)
	if err == nil {
		err = replaceFile(filepath.Join(p.b.opts.Data, membersFile), append(text, '\n'))
	}
	if err != nil {
		p.b.log.Warn("the names of the cluster's members cannot be kept", "err", err)
		return
	}
	p.noted = n.Members
}

// StoredMembers are those who are in the cluster of a data folder as it was last seen.
type StoredMembers struct {
	ids   []string
	names []string
}

// MembersOf reads who is in the cluster of a data folder, whether its process runs or
// not. Nobody is, as long as it was not let in.
func MembersOf(data string) (StoredMembers, error) {
	var s StoredMembers
	size, ids, err := readPeers(metaOf(data))
	if errors.Is(err, os.ErrNotExist) || err == nil && size == unadmitted {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read who is in the cluster from data folder %s: %w", data, err)
	}
	s.ids = ids
	for _, name := range readNote(data).Members {
		if slices.Contains(ids, memberID(name)) {
			s.names = append(s.names, name)
		}
	}
	return s, nil
}

// Known tells whether anything is known of the members.
func (s StoredMembers) Known() bool { return len(s.ids) > 0 }

// Has tells whether there is a member of a name.
func (s StoredMembers) Has(name string) bool { return slices.Contains(s.ids, memberID(name)) }

// String lists the members for people.
func (s StoredMembers) String() string {
	text := strings.Join(s.names, ", ")
	if more := len(s.ids) - len(s.names); more > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s and %d whose names are not known here", text, more), " and ")
	}
	return text
}

// wasRemoved is the error of a member that is none any more.
func wasRemoved(data, cluster, member string) error {
	return fmt.Errorf("%w: %s was taken out of cluster %s by an operator, and data folder %s is of no use any more; "+
		"to be a member again move it away and join with an empty one (jaque cluster token, on a member, and jaque cluster join)",
		ErrRemoved, member, cluster, data)
}

// removal notes in the folder that this member was removed, and says so.
func (p *peering) removal() error {
	data, name := p.b.opts.Data, p.server.Name()
	return errors.Join(wasRemoved(data, p.at.Name, name), noteRemoval(data, p.at.Name, name))
}

// isOut tells whether the folder says that the cluster goes on without this member.
func (p *peering) isOut() bool {
	size, ids, err := readPeers(metaOf(p.b.opts.Data))
	// The server deletes the file when it was removed, unless it was one of two.
	return err != nil || size != unadmitted && !slices.Contains(ids, memberID(p.server.Name()))
}

// anothers is the error for a folder whose cluster has one member, another one.
func anothers(data, cluster, self string) error {
	switch was := readNote(data).Self; was {
	case self:
		return errors.Join(wasRemoved(data, cluster, self), noteRemoval(data, cluster, self))
	case "":
		return fmt.Errorf("%w %s, or its folder is another one's: in data folder %s %s is no member; if it was removed, move the folder away and join again with an empty one; "+
			"else start it with the -engine-id that it had", ErrRemoved, cluster, data, self)
	default:
		return fmt.Errorf("data folder %s belongs to the member %s of the cluster %s; start it with -engine-id %s", data, was, cluster, was)
	}
}

// shutOut refuses connections of members while they are removed as gone for good: one of
// them that runs would take the decision away. Once they are removed their folders are
// refused, see folders.
func (p *peering) shutOut(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = append(p.shut, names...)
}

// letIn takes that back.
func (p *peering) letIn(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = slices.DeleteFunc(p.shut, func(name string) bool { return slices.Contains(names, name) })
}

// outsider is the error for a peer that must not come in although the cluster's authority
// has signed for it, as its certificate and what it sent behind that say.
func (p *peering) outsider(chain []*x509.Certificate) error {
	shown := passportIn(chain)
	p.mu.Lock()
	for _, name := range p.shut {
		if shown != nil && shown.Member == name || shown == nil && named(chain[0], name) {
			p.mu.Unlock()
			return fmt.Errorf("the member %s %s, as an operator says", name, removedForGood)
		}
	}
	var members []string
	for _, m := range p.seen.Members {
		members = append(members, m.Name)
	}
	p.mu.Unlock()
	if shown == nil {
		return p.folders.unknown(chain[0], members)
	}
	return p.folders.meet(shown)
}

// removedForGood stands in the server's line about such a peer.
const removedForGood = "was removed from the cluster"

// named tells whether a certificate is one of a name.
func named(c *x509.Certificate, name string) bool {
	if ip := net.ParseIP(name); ip != nil {
		return slices.ContainsFunc(c.IPAddresses, ip.Equal)
	}
	same := func(other string) bool { return strings.EqualFold(other, name) }
	return same(c.Subject.CommonName) || slices.ContainsFunc(c.DNSNames, same)
}
