#!/usr/bin/env bash
# Puts what a release holds into dist/: the static binary with unit, user,
# folders and first configuration as an archive, and its checksum. The same
# VERSION and the same sources give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: packaging/build.sh VERSION}
arch=$(go env GOARCH)
name=jaque_${version#v}_linux_$arch
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

mkdir -p dist "$stage/$name"/{bin,doc}
install -m 755 bin/jaque "$stage/$name/bin/jaque"
cp -r packaging/systemd packaging/sysusers.d packaging/tmpfiles.d packaging/etc "$stage/$name/"
cp -r docs/guide docs/reference docs/CHANGELOG.md README.md LICENSE "$stage/$name/doc/"

# The time of the last commit stands on every file.
when=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar -C "$stage" --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -n >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
ls -l "dist/$name.tar.gz"
