#!/bin/sh
# Replays requests against the disk store on ext4 and on xfs, each in an image that the store fills to nine tenths, until 20
# times its size was written. The images and mounts are removed at the end.
set -eu

go=${GO:-go}
size=${SIZE:-1600} # MB of each image

if [ "$(id -u)" != 0 ]; then
	echo "soak-disk: mounting an image needs root" >&2
	exit 1
fi

work=$(mktemp -d)
mounted=
clean() {
	[ -z "$mounted" ] || umount "$work/mount" || umount -l "$work/mount"
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

"$go" build -o "$work/diskbench" ./test/diskbench
mkdir "$work/mount"
for fs in ext4 xfs; do
	command -v "mkfs.$fs" >/dev/null || { echo "soak-disk: mkfs.$fs is not there" >&2; exit 1; }
	rm -f "$work/image"
	truncate -s "${size}M" "$work/image"
	case $fs in
	ext4) mkfs.ext4 -q -m 0 "$work/image" ;;
	xfs) mkfs.xfs -q "$work/image" ;;
	esac
	mount -o loop "$work/image" "$work/mount"
	mounted=yes
	free=$(df -B1 --output=avail "$work/mount" | tail -n 1)
	echo "soak-disk: $fs, $free bytes free"
	"$work/diskbench" -dir "$work/mount" -only replay -bytes "$((free * 9 / 10))" -times 20 -traces "zipf:objects=$((size * 40)),requests=$((size * 400)),exponent=0.8"
	df -h "$work/mount" | tail -n 1
	umount "$work/mount"
	mounted=
done
