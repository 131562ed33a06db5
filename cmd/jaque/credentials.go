package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/roles"
)

const credentialsHelp = `Usage: jaque credentials ROLE [-zone ZONE,…] [-id NAME] [-data FOLDER] [-out FILE] [-ca FILE]
       jaque credentials ROLE -nats-conf [-zone ZONE,…] [-id NAME] [-out FILE] [-ca FILE]
       jaque credentials list [-data FOLDER]
       jaque credentials revoke NAME [-data FOLDER]

Makes a user of the embedded log server and the file with which a process of the
role gets in: engine, worker, ui, sink or notifier; backup is for "jaque backup" from
another machine. The server allows the user what the role needs and nothing else, a
worker the work of its zones. A server that runs takes the user in after about two
seconds; a process that starts earlier waits that long. It may also be made before the
first start.

  -zone ZONE,…   the zones of a worker (default: default)
  -id NAME       name of the user (default: the role, with its zones; an engine's is
                 its -engine-id, by default the host name)
  -data FOLDER   the data folder of the engine with the embedded server
  -out FILE      where the file goes (default: NAME.creds); it must not exist
  -ca FILE       authority of the server's certificate, if that is not jaque's own;
                 system = the authorities that the worker's system knows
  -nats-conf     records nothing and prints the user for the configuration of an
                 external nats-server; the file gets no authority without -ca

list shows the users, revoke removes one and ends its connections. In a cluster a user
may be made and revoked at any member, and gets in at all of them; list says if a member
knows others. Whoever has the file may do what it is for: move it over a safe way and
remove the copy.
Exit status 0 if it is done, 1 if not, 2 for wrong usage.
`

// credentials makes, lists and revokes the users of the embedded log server.
func credentials(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return wrongUsage("for whom? write a role, list or revoke, as in jaque credentials worker -zone dmz")
	}
	var o credentialOptions
	set := flag.NewFlagSet("credentials", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.zones, "zone", "", "")
	set.StringVar(&o.id, "id", "", "")
	set.StringVar(&o.data, "data", "", "")
	set.StringVar(&o.out, "out", "", "")
	set.StringVar(&o.ca, "ca", "", "")
	set.BoolVar(&o.conf, "nats-conf", false, "")
	words, err := parseMixed(set, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, credentialsHelp)
		return nil
	}
	if err != nil {
		return wrongUsage(err.Error())
	}
	if o.data == "" {
		env := environment()
		if value, ok := env.Lookup("JAQUE_DATA"); ok && value != "" {
			o.data = value
		} else if o.data = roles.DefaultData(env); o.data == "" && !o.conf {
			return wrongUsage("there is no home folder; name the data folder of the engine with -data")
		}
	}
	switch {
	case len(words) == 1 && words[0] == "list":
		return listCredentials(o.data, stdout, stderr)
	case len(words) == 2 && words[0] == "revoke":
		return revokeCredentials(o.data, words[1], stderr)
	case len(words) == 1 && words[0] != "revoke":
		return makeCredentials(words[0], o, stdout, stderr)
	}
	return wrongUsage("write one role, list, or revoke with one name")
}

// credentialOptions are the flags of the command.
type credentialOptions struct {
	zones, id, data, out, ca string
	conf                     bool
}

func wrongUsage(problem string) error {
	return &roles.UsageError{Problems: []string{"credentials: " + problem + " (\"jaque help credentials\" tells more)"}}
}

// parseMixed takes flags and words in any order.
func parseMixed(set *flag.FlagSet, args []string) (words []string, err error) {
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		if args = set.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words, nil
}

// holder is who the credentials are for.
func (o credentialOptions) holder(word string) (access.Holder, error) {
	role, err := access.ParseRole(word)
	if err != nil {
		return access.Holder{}, err
	}
	h := access.Holder{Role: role, ID: o.id}
	if o.zones != "" && role != access.Worker {
		return h, fmt.Errorf("-zone: only a worker has zones, role %s has none", role)
	}
	if role == access.Worker {
		for zone := range strings.SplitSeq(o.zones, ",") {
			if strings.ContainsFunc(zone, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(zone) {
				return h, fmt.Errorf("-zone: %.40q cannot be printed; write the names of zones on one line, as in dmz,lab", zone)
			}
			if zone = strings.TrimSpace(zone); zone != "" {
				h.Zones = append(h.Zones, zone)
			}
		}
		if slices.Sort(h.Zones); len(h.Zones) == 0 {
			h.Zones = []string{"default"}
		}
		h.Zones = slices.Compact(h.Zones)
	}
	if h.ID == "" {
		switch role {
		case access.Worker:
			h.ID = "worker-" + strings.Join(h.Zones, "-")
		case access.Engine:
			h.ID = roles.HostID(environment().Host)
		default:
			h.ID = string(role)
		}
	}
	if err := access.CheckName(h.ID); err != nil {
		return h, fmt.Errorf("-id: %w", err)
	}
	return h, nil
}

func makeCredentials(word string, o credentialOptions, stdout, stderr io.Writer) error {
	h, err := o.holder(word)
	if err != nil {
		return wrongUsage(err.Error())
	}
	c, err := credential.New(string(h.Role), h.ID, h.Zones)
	if err != nil {
		return err
	}
	if err := o.trust(c); err != nil {
		return err
	}
	key, err := c.Key()
	if err != nil {
		return err
	}
	file := o.out
	if file == "" {
		file = h.ID + ".creds"
	}
	if err := c.Write(file); err != nil {
		return err
	}
	var members strings.Builder // what they say
	known := "a server that runs knows it after about two seconds"
	if o.conf {
		fmt.Fprint(stdout, access.NATSUser(h, key))
		known = "the nats-server lets it in as soon as it has read that configuration"
		fmt.Fprintf(stderr, "%s is the secret half. Put what was printed into the users of the nats-server's\nconfiguration and reload it.\n", file)
	} else if err := o.record(h, key, &members); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	fmt.Fprintf(stderr, "Made %s for %s. Bring it to the machine of the process over a safe way and start it there;\n%s:\n\n  %s\n%s",
		file, h.ID, known, startLine(h, filepath.Base(file)), members.String())
	return nil
}

// record makes the user, has the members of a cluster know it, and says whether it counts.
func (o credentialOptions) record(h access.Holder, key string, members io.Writer) error {
	err := access.In(o.data).Add(access.Record{Name: h.ID, Role: h.Role, Zones: h.Zones, Key: key, Made: time.Now().UTC().Truncate(time.Second)})
	if errors.Is(err, access.ErrExists) {
		return fmt.Errorf("%w; revoke it first with \"jaque credentials revoke %s\", or choose another name with -id", err, h.ID)
	}
	if err != nil {
		return err
	}
	tellMembers(o.data, members)
	return counts(o.data, h.ID, key)
}

// trust says by which authority the process knows the server.
func (o credentialOptions) trust(c *credential.Credentials) error {
	switch {
	case o.ca == "system" || o.ca == "" && o.conf:
		return nil
	case o.ca != "":
		text, err := os.ReadFile(o.ca)
		if err == nil {
			err = c.Trust(text, "")
		}
		if err != nil {
			return fmt.Errorf("read the authority of -ca: %w", err)
		}
		return nil
	}
	ca, err := authority.Open(o.data)
	if err != nil {
		return err
	}
	return c.Trust(ca.PEM(), authority.ServerName)
}

// startLine is how a process of the role is started.
func startLine(h access.Holder, file string) string {
	const server = "tls://HOST:PORT"
	line := "jaque -target " + string(h.Role) + " -nats-creds " + shellWord(file)
	switch h.Role {
	case access.Worker:
		return line + " -queue " + server + " -zones " + shellWord(strings.Join(h.Zones, ","))
	case access.Engine:
		return line + " -config PATH -eventlog " + server + " -queue " + server + " -coordination " + server + " -engine-id " + h.ID
	case access.Backup:
		return "jaque backup -o FILE -eventlog " + server + " -nats-creds " + shellWord(file)
	}
	return line + " -config PATH -eventlog " + server + " -coordination " + server // ui, sink and notifier
}

// shellWord returns a text as one word of a shell's command line.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.,/:@%+=", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func listCredentials(data string, stdout, stderr io.Writer) error {
	all, err := access.In(data).List()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tROLE\tZONES\tMADE\tKEY")
	for _, r := range all {
		zones := strings.Join(r.Zones, ",")
		if zones == "" {
			zones = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.Role, zones, r.Made.Format(time.RFC3339), r.Key)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	tellDifference(data, stderr)
	return nil
}

func revokeCredentials(data, name string, stderr io.Writer) error {
	err := access.In(data).Remove(name)
	if errors.Is(err, access.ErrNoUser) {
		return fmt.Errorf("%w in %s; \"jaque credentials list\" shows those there are", err, data)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Revoked %s. A server that runs ends its connections within a second or two.\n", name)
	if missing := tellMembers(data, stderr); len(missing) > 0 {
		return fmt.Errorf("%s is revoked here and may still get in at %s", name, strings.Join(missing, ", "))
	}
	return nil
}
