#!/usr/bin/env bash
# Installs what the tests need beside Go: a C compiler (race detector, bench
# plugin), the monitoring plugins, Chromium for pages and mails, a mail server
# with passwords, stores of time series for the sinks, and git. Prometheus, which
# would take 330 MB, is tested where it is installed anyway.
# With "bench" as argument also the two peers that the benchmarks run beside us;
# their services are kept from starting.
#
# Says nothing when all is there. Without root it prints the command to type.
set -euo pipefail

missing=()

# need PROGRAM PACKAGE: remember the package when the program is not there.
need() {
  command -v "$1" >/dev/null 2>&1 || [[ -x "$1" ]] || missing+=("$2")
}

need gcc gcc
need git git
need ip iproute2
need chromium chromium
need /usr/lib/nagios/plugins/check_http monitoring-plugins-basic
need /usr/lib/nagios/plugins/check_dns monitoring-plugins-standard
need /usr/lib/postfix/sbin/master postfix
need saslpasswd2 sasl2-bin
need victoria-metrics victoria-metrics
need influxd influxdb
need carbon-cache graphite-carbon
compgen -G '/usr/lib/*/sasl2/libscram.so' >/dev/null || missing+=(libsasl2-modules)
echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || missing+=(libc6-dev)

if [[ "${1:-}" == bench ]]; then
  need nagios4 nagios4-core
  need icinga2 icinga2-bin
fi

if ((${#missing[@]} == 0)); then
  exit 0
fi

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if ! command -v apt-get >/dev/null; then
  echo "missing: ${missing[*]} (names of Debian packages); install them, then run this again" >&2
  exit 1
fi
if [[ $(id -u) != 0 ]]; then
  echo "missing: ${missing[*]}; run this as root, then try again:" >&2
  echo "  ${install[*]}" >&2
  exit 1
fi

# A package that brings a service must not start it on a test machine.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi

echo "installing: ${missing[*]}"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! "${install[@]}" >"$log" 2>&1; then
  apt-get update -q >>"$log" 2>&1
  "${install[@]}" >>"$log" 2>&1 || {
    tail -20 "$log" >&2
    exit 1
  }
fi
