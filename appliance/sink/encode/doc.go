// Package encode writes samples and events in the forms that other systems read, and
// reads the answers that say something about single items.
//
// It owns bytes only: Graphite plaintext and pickle, InfluxDB line protocol,
// Prometheus remote write 1.0 and 2.0, OpenTSDB telnet and JSON, JSON lines, syslog
// (RFC 5424) and the bulk requests of Elasticsearch and OpenSearch. It never opens a
// connection and never judges whether an answer is good, that is package target.
// Every function appends to what it is given. Start reading at Graphite.
package encode
