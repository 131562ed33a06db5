package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// nagios is Nagios Core 4 as Debian packages it.
func nagios() engine {
	e := engine{name: "nagios4", binary: installed("nagios4")}
	e.write = writeNagios
	e.start = func(dir string) []string { return []string{e.binary, filepath.Join(dir, "nagios.cfg")} }
	e.validate = func(dir string) []string { return []string{e.binary, "-v", filepath.Join(dir, "nagios.cfg")} }
	e.late = nagiosLateness
	return e
}

const nagiosMain = `log_file=DIR/nagios.log
cfg_file=DIR/objects.cfg
object_cache_file=DIR/objects.cache
precached_object_file=DIR/objects.precache
status_file=DIR/status.dat
status_update_interval=10
nagios_user=USER
nagios_group=GROUP
lock_file=DIR/nagios.lock
temp_file=DIR/nagios.tmp
temp_path=DIR
check_result_path=DIR/results
state_retention_file=DIR/retention.dat
retain_state_information=1
command_file=DIR/nagios.cmd
query_socket=DIR/nagios.qh
check_external_commands=0
check_for_updates=0
use_syslog=0
log_rotation_method=n
log_initial_states=0
interval_length=1
execute_service_checks=1
execute_host_checks=0
enable_notifications=0
enable_event_handlers=0
check_service_freshness=0
service_check_timeout=60
service_inter_check_delay_method=s
service_interleave_factor=s
max_service_check_spread=SPREAD
max_concurrent_checks=0
illegal_macro_output_chars=` + "`" + `~$&|'"<>
date_format=iso8601
`

// writeNagios writes nagios.cfg and objects.cfg.
func writeNagios(dir string, s site) error {
	if err := os.MkdirAll(filepath.Join(dir, "results"), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "define timeperiod {\n timeperiod_name always\n alias always\n")
	for _, d := range []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"} {
		fmt.Fprintf(&b, " %s 00:00-24:00\n", d)
	}
	fmt.Fprintf(&b, "}\ndefine command {\n command_name bench\n command_line %s $HOSTNAME$ $SERVICEDESC$\n}\n", s.plugin)
	fmt.Fprintf(&b, "define contact {\n contact_name nobody\n host_notification_period always\n service_notification_period always\n"+
		" host_notification_commands bench\n service_notification_commands bench\n}\n")
	fmt.Fprintf(&b, "define host {\n name host\n register 0\n check_period always\n max_check_attempts 3\n check_interval 60\n"+
		" notification_period always\n notification_interval 0\n contacts nobody\n}\n")
	fmt.Fprintf(&b, "define service {\n name service\n register 0\n check_command bench\n check_period always\n max_check_attempts 3\n"+
		" check_interval %d\n retry_interval %d\n notification_period always\n notification_interval 0\n contacts nobody\n}\n", s.seconds(), s.seconds())
	for h := range s.hosts() {
		fmt.Fprintf(&b, "define host {\n use host\n host_name %s\n address %s\n}\n", s.host(h), s.address(h))
		for i := range perHost {
			fmt.Fprintf(&b, "define service {\n use service\n host_name %s\n service_description %s\n}\n", s.host(h), s.service(i))
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "objects.cfg"), b.Bytes(), 0o644); err != nil {
		return err
	}
	// Nagios spreads the first checks over at most so many minutes.
	spread := max(1, s.seconds()/60)
	main := strings.NewReplacer("DIR", dir, "USER", strconv.Itoa(os.Getuid()), "GROUP", strconv.Itoa(os.Getgid()), "SPREAD", strconv.Itoa(spread)).Replace(nagiosMain)
	return os.WriteFile(filepath.Join(dir, "nagios.cfg"), []byte(main), 0o644)
}

// nagiosLateness reads the latency of every service's last check from the
// status file.
func nagiosLateness(dir string) (p50, p99, most time.Duration, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "status.dat"))
	if err != nil {
		return 0, 0, 0, err
	}
	var all []time.Duration
	service := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, "{") {
			service = strings.HasPrefix(line, "servicestatus")
		}
		if v, ok := strings.CutPrefix(line, "check_latency="); ok && service {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return 0, 0, 0, fmt.Errorf("status.dat: %w", err)
			}
			all = append(all, time.Duration(f*float64(time.Second)))
		}
	}
	return quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1), nil
}
