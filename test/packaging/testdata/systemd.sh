#!/bin/sh
# Starts systemd as process 1 of new namespaces, in a copy of this system that is thrown away: systemd.sh WORK, in a shell that has its
# own namespaces of mounts, processes, network, cgroups and names. WORK has in/, with steps.sh, which systemd runs as a service
# and whose exit code is ours, and gets out/. Nothing of the system itself is changed: the copy is an overlay in memory, and it
# has no devices but those below, no settings of the kernel, and no units that are enabled here.
set -eu
work=$1
top=$work/top
mkdir "$top"
mount -t tmpfs -o mode=755 tmpfs "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" overlay "$top/root"
cd "$top/root"
mount -t proc proc proc
mount -o bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
	: >"dev/$device"
	mount -o bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts run/in run/out
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
: >dev/console
: >"$work/out/systemd.log"
mount -o bind "$work/out/systemd.log" dev/console
mount -o bind "$work/in" run/in
mount -o bind "$work/out" run/out
ip link set lo up

# There is no journal: what services say goes to a file.
mkdir -p etc/systemd/system/service.d
printf '[Service]\nStandardOutput=append:/run/out/services.log\nStandardError=inherit\n' >etc/systemd/system/service.d/output.conf

units=etc/systemd/system
rm -rf "$units"/*.wants "$units"/*.requires lib/systemd/system/*.wants usr/lib/systemd/system/*.wants
cat >"$units/steps.service" <<'END'
[Unit]
Description=The steps of the test
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'exec sh -eux /run/in/steps.sh >/run/out/steps.log 2>&1'
WorkingDirectory=/run/in
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
END
: >"$work/out/begun"
pivot_root . mnt # and no chroot, in which services have no mounts of their own
cd /
umount -l mnt
exec /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=steps.service --log-target=console --show-status=false
