package main

import (
	"strings"
	"testing"
)

func TestAnAddressThatOnlyThisMachineReachesIsWarnedOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"localhost:4248": true, "127.0.0.1:4248": true, "[::1]:4248": true, "10.0.0.1:4248": false, "node1:4248": false,
	} {
		var b strings.Builder
		if warnOfLoopback(&b, address); strings.Contains(b.String(), address) != want {
			t.Errorf("%s: %q", address, b.String())
		}
	}
}
