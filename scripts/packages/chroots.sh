# Bare Debian and Ubuntu systems in folders. Sourced by scripts/prove-fresh and scripts/prove-packages, which run as
# root: make_root, mount_root and in_root; unmount_roots when all is done.
# shellcheck shell=bash
mounted=()
ubuntu_keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
variables=(DEBIAN_FRONTEND=noninteractive)

# needs_root PROGRAM RELEASE: ends with status 77 where the user is not root, or what RELEASE needs is missing.
needs_root() {
  [ "$(id -u)" = 0 ] || { echo "$1: needs root (debootstrap, mount)" >&2; exit 77; }
  command -v debootstrap >/dev/null || { echo "$1: install debootstrap first" >&2; exit 77; }
  [ "$2" != noble ] || [ -e "$ubuntu_keyring" ] ||
    { echo "$1: $ubuntu_keyring is missing (of Ubuntu's package ubuntu-keyring)" >&2; exit 77; }
}

# make_root RELEASE FOLDER: debootstrap's minbase there, unless one is there already. Debian's packages come
# from where this machine's own apt gets them, Ubuntu's from its archive.
make_root() {
  if [ ! -x "$2/bin/bash" ]; then
    local mirror script='' options=()
    # shellcheck disable=SC2016 # apt fills that in
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
             head -n 1)
    if [ "$1" = noble ]; then
      mirror=http://archive.ubuntu.com/ubuntu
      options=("--components=main,universe" "--keyring=$ubuntu_keyring")
      [ -e "/usr/share/debootstrap/scripts/$1" ] || script=gutsy  # what those of all later releases are links to
    fi
    echo "debootstrap --variant=minbase $1"
    mkdir -p "$2"
    chmod 755 "$2"  # the root of all users in there, although mktemp made it
    debootstrap --variant=minbase "${options[@]}" "$1" "$2" ${mirror:+"$mirror"} ${script:+"$script"} >"$2/debootstrap.out" 2>&1 ||
      { tail -n 20 "$2/debootstrap.out" >&2; return 1; }
  fi
  cp /etc/resolv.conf "$2/etc/resolv.conf" 2>/dev/null || true
  cp /etc/hosts "$2/etc/hosts" 2>/dev/null || true
}

mount_root() {
  local at
  for at in proc sys dev; do
    mkdir -p "$1/$at"
    mount --rbind "/$at" "$1/$at"
    mounted+=("$1/$at")
    mount --make-rslave "$1/$at"
  done
}

unmount_roots() {
  local i
  for ((i = ${#mounted[@]} - 1; i >= 0; --i)); do unmount "${mounted[i]}"; done
  mounted=()
}

# What was told to end may have something open there for a little while.
unmount() {
  local try
  for ((try = 0; try < 40; ++try)); do
    if umount -R "$1" 2>/dev/null; then return; fi
    sleep 0.25
  done
  umount -R --lazy "$1" || true
}

# in_root FOLDER DIRECTORY COMMAND...: there, with nothing of this machine's environment.
in_root() {
  local root=$1 directory=$2
  shift 2
  # shellcheck disable=SC2016 # the shell in there fills that in
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    "${variables[@]}" bash -c 'cd "$1" && shift && exec "$@"' run "$directory" "$@"
}
