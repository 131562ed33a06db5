package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// icinga is Icinga 2 as Debian packages it.
func icinga() engine {
	e := engine{name: "icinga2", binary: installed("icinga2")}
	args := func(dir string, more ...string) []string {
		a := []string{e.binary, "daemon", "-c", filepath.Join(dir, "icinga2.conf"), "-x", "warning"}
		for _, d := range []string{"DataDir", "CacheDir", "LogDir", "SpoolDir", "InitRunDir"} {
			a = append(a, "-D", d+"="+filepath.Join(dir, d))
		}
		return append(a, more...)
	}
	e.write = writeIcinga
	e.start = func(dir string) []string { return args(dir) }
	e.validate = func(dir string) []string { return args(dir, "-C") }
	return e
}

// writeIcinga writes icinga2.conf and the folders that its package would bring.
func writeIcinga(dir string, s site) error {
	for _, d := range []string{"DataDir", "CacheDir", "LogDir", "SpoolDir", "InitRunDir"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `include <itl>
const NodeName = "bench"
object Endpoint NodeName { }
object Zone "bench" { endpoints = [ NodeName ] }
object CheckerComponent "checker" { }
MaxConcurrentChecks = 4096
object CheckCommand "bench" {
  command = [ %q, "$host.name$", "$service.name$" ]
}
template Service "bench" {
  check_command = "bench"
  check_interval = %ds
  retry_interval = %ds
  max_check_attempts = 3
  enable_notifications = false
}
`, s.plugin, s.seconds(), s.seconds())
	for h := range s.hosts() {
		fmt.Fprintf(&b, "object Host %q { check_command = \"dummy\"\n enable_active_checks = false\n address = %q }\n", s.host(h), s.address(h))
		for i := range perHost {
			fmt.Fprintf(&b, "object Service %q { import \"bench\"\n host_name = %q }\n", s.service(i), s.host(h))
		}
	}
	return os.WriteFile(filepath.Join(dir, "icinga2.conf"), b.Bytes(), 0o644)
}
