// Command bench measures the jaque binary from outside, as a process among its
// peers: the same plugin, the same number of services, the same minute, beside
// floors that bound what any engine could reach. It prints one Markdown table.
//
// It owns the configurations it writes for jaque, nagios4 and icinga2, the C
// plugin they run and the reading of /proc. It never looks inside an engine:
// checks are counted by the plugin and by the servers that are probed. It is a
// tool for developers and not part of a release. Start reading at rows.go.
package main
