package config

import (
	"path/filepath"
	"sort"
	"strings"
)

// inventoryFile is what one file of an inventory declares.
type inventoryFile struct {
	hosts    []inventoryHost
	problems Problems
	lost     bool // hosts of it may be missing
}

// inventoryHost is one host as a tree.
type inventoryHost struct {
	name   string
	pos    Position
	tree   *node
	listed bool // the name is a field of the tree
}

// add takes a host in. A name that is no text counts as absent here and is
// reported when the host is decoded.
func (f *inventoryFile) add(name *node, pos Position, tree *node, listed bool) {
	text := ""
	if name != nil && name.kind == kindText {
		text = name.text
	}
	f.hosts = append(f.hosts, inventoryHost{text, pos, tree, listed})
}

// hostsOf takes a list of hosts or a map from name to host apart. A map with
// the one field hosts is looked into, so that exports of other tools fit.
func hostsOf(root *node) *inventoryFile {
	out := &inventoryFile{}
	if root.kind == kindMap && len(root.fields) == 1 && root.fields[0].name == "hosts" {
		if inner := root.fields[0].node; inner.kind == kindList || inner.kind == kindMap {
			root = inner
		}
	}
	switch root.kind {
	case kindList:
		for _, item := range root.items {
			out.add(item.get("name"), item.pos, item, true)
		}
	case kindMap:
		for _, f := range root.fields {
			out.hosts = append(out.hosts, inventoryHost{f.name, f.pos, f.node, false})
		}
	default:
		out.problems = Problems{{Position: root.pos, Text: root.show() + " is neither a list nor a map of hosts; write one of them"}}
	}
	return out
}

// inventories reads every file of the section inventory, relative to a folder,
// and hands each host on. It returns the files it has read.
func (d *decoder) inventories(s *section, dir string, each func(inventoryHost)) []string {
	var files []string
	seen := map[string]bool{}
	list := s.n.get("inventory")
	d.lost = list != nil && (list.kind != kindList || list.holdsBad())
	s.list("inventory", func(at *path, n *node) {
		pattern, ok := d.text(at, n)
		if !ok {
			d.lost = true
			return
		}
		for _, name := range d.glob(at, n.pos, dir, pattern) {
			if seen[name] {
				continue
			}
			seen[name] = true
			files = append(files, name)
			f := d.readInventory(at, n.pos, name)
			d.problems = append(d.problems, f.problems...)
			d.lost = d.lost || f.lost
			for _, h := range f.hosts {
				each(h)
			}
		}
	})
	return files
}

// glob lists the files that a pattern means.
func (d *decoder) glob(at *path, pos Position, dir, pattern string) []string {
	if pattern == "" {
		d.bad(at, pos, `empty; write the name of a file or a pattern such as "cmdb/*.json"`)
		return nil
	}
	full := pattern
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{full}
	}
	names, err := filepath.Glob(full)
	d.lost = d.lost || len(names) == 0
	switch {
	case err != nil:
		d.bad(at, pos, `%s is not a pattern; write one such as "cmdb/*.json"`, quote(pattern))
	case len(names) == 0:
		d.bad(at, pos, "no file matches %s in %s", quote(pattern), quote(dirName(dir)))
	}
	sort.Strings(names)
	return names
}

// dirName is how a folder is shown.
func dirName(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// readInventory decodes one file by its ending.
func (d *decoder) readInventory(at *path, pos Position, name string) *inventoryFile {
	var read func(string, []byte) *inventoryFile
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".csv":
		read = readCSV
	case ".json":
		read = readJSON
	case ".yaml", ".yml":
		read = readYAML
	default:
		d.bad(at, pos, "%s is no inventory; use a file that ends in .csv, .json, .yaml or .yml", quote(name))
		return &inventoryFile{lost: true}
	}
	content, err := readRegular(name, maxInventory)
	if err != nil {
		d.bad(at, pos, "cannot read %s: %s", quote(name), plainError(err))
		return &inventoryFile{lost: true}
	}
	f := read(name, content)
	// One row of a table that does not fit takes away no more than itself.
	f.lost = f.lost || len(f.problems) > 0 && len(f.hosts) == 0
	return f
}
