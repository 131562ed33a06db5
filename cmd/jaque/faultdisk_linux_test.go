package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// faultDisk is a small file system of a member's own, on a loop device.
type faultDisk struct {
	folder string
	device string // major:minor
}

// diskSize is what a member's disk holds. The file behind it takes what is written.
const diskSize = 1 << 30

// newFaultDisk makes the disk of a member. It goes with the test.
func (x *faults) newFaultDisk(n int) (*faultDisk, error) {
	d := &faultDisk{folder: filepath.Join(x.dir, fmt.Sprintf("disk%d", n))}
	image := d.folder + ".ext4"
	err := errors.Join(os.MkdirAll(d.folder, 0o700), os.WriteFile(image, nil, 0o600), os.Truncate(image, diskSize))
	if err == nil {
		err = tool("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", image)
	}
	if err == nil {
		err = tool("mount", "-o", "loop", image, d.folder)
	}
	if err != nil {
		return nil, err
	}
	x.t.Cleanup(func() {
		for range 50 { // until its process is gone
			if err = tool("umount", d.folder); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		x.t.Logf("the disk of m%d stays mounted: %v", n, err)
	})
	var st unix.Stat_t
	if err := unix.Stat(d.folder, &st); err != nil {
		return nil, err
	}
	d.device = fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	return d, nil
}

func tool(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// disks gives each member a disk of its own, if this machine lets them be made.
func (x *faults) disks() {
	x.t.Helper()
	for _, m := range x.members {
		d, err := x.newFaultDisk(m.n)
		if err != nil {
			x.t.Logf("no disk is full or slow in this run: the test gives each member a file system on a loop device and may not here; run it as root where loop devices and mount are permitted: %v", err)
			return
		}
		m.disk, m.data = d, filepath.Join(d.folder, "data")
	}
}

// filler takes all the room of a disk.
func (d *faultDisk) filler() string { return filepath.Join(d.folder, "filler") }

// fill leaves no room on the disk.
func (d *faultDisk) fill() error {
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	end := int64(0)
	for size := int64(diskSize); size >= 1024; {
		switch err := unix.Fallocate(int(f.Fd()), 0, end, size); {
		case err == nil:
			end += size
		case errors.Is(err, unix.ENOSPC):
			size /= 2
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
	return nil
}

// throttles is where Linux is told how often a device may be written, in version 1 of
// its control groups.
const throttles = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device"

// slow lets the disk be written so often in a second; 0 = as often as it can.
func (d *faultDisk) slow(writes int) error {
	return os.WriteFile(throttles, fmt.Appendf(nil, "%s %d", d.device, writes), 0)
}

// fullDisk fills the disk of a member.
func (x *faults) fullDisk(dice *rand.Rand, _ time.Duration) (string, func()) {
	m := x.any(dice)
	return m.id(), x.fill(m)
}

// fill fills the disk of a member and returns what makes room again.
func (x *faults) fill(m *faultMember) (free func()) {
	x.t.Helper()
	if err := m.disk.fill(); err != nil {
		x.found("fill the disk of %s: %v", m.id(), err)
	}
	return func() {
		if err := os.Remove(m.disk.filler()); err != nil {
			x.found("free the disk of %s: %v", m.id(), err)
		}
	}
}

// slowDisk lets the disk of a member be written a few times a second only.
func (x *faults) slowDisk(dice *rand.Rand, _ time.Duration) (string, func()) {
	m, writes := x.any(dice), 5+dice.IntN(30)
	if err := m.disk.slow(writes); err != nil {
		x.found("slow the disk of %s down: %v", m.id(), err)
	}
	return fmt.Sprintf("%s, %d writes a second", m.id(), writes), func() {
		if err := m.disk.slow(0); err != nil {
			x.found("let the disk of %s be written again: %v", m.id(), err)
		}
	}
}

// filled fills the disk of a member in a calm cluster: it says so and ends, the others
// check what was its, and it is back when there is room.
func (x *faults) filled(dice *rand.Rand) {
	x.t.Helper()
	for range *faultFills {
		m := x.any(dice)
		if m.disk == nil {
			return
		}
		before, orphans := len(m.text()), x.owned(m)
		free := x.fill(m)
		full := time.Now()
		x.until(m.id()+" says that its disk is full", func() bool { return strings.Contains(m.text()[before:], "disk is full: data folder "+m.data) })
		said := time.Since(full)
		last := x.adopted(m, orphans, full)
		free()
		freed := time.Now()
		x.whole()
		x.t.Logf("the disk of %s was full: it said so after %s, the last of its services was checked by others after %s; it was back %s after there was room again",
			m.id(), said.Round(time.Millisecond), last.Sub(full).Round(time.Millisecond), time.Since(freed).Round(time.Millisecond))
	}
}
