# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share: where things are, messages, steps that show progress.
# Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*"; }

# fail SENTENCE [HINT]: the form of every error: what is wrong, then what can be done about it.
fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  if [ $# -gt 1 ]; then printf 'hint: %s\n' "$2" >&2; fi
  exit 1
}

# usage: the comment at the head of the script that was started, without its first line.
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

# step TITLE COMMAND…: runs the command with its output put aside. A terminal sees the seconds
# count; elsewhere a line comes every half minute. When the command fails its output is shown.
step() {
  local title=$1 log started=$SECONDS ticker status=0
  shift
  log=$(mktemp)
  progress "$title" "$log" &
  ticker=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$ticker" 2>/dev/null || :
  wait "$ticker" 2>/dev/null || :
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  if [ "$status" -eq 0 ]; then
    printf '%s: done in %d s\n' "$title" $((SECONDS - started)) >&2
  else
    cat "$log" >&2
    printf '%s: failed with exit status %d\n' "$title" "$status" >&2
  fi
  rm -f "$log"
  return "$status"
}

# progress TITLE LOG: until it is killed.
progress() {
  local seconds=0 last columns=${COLUMNS:-80}
  if [ ! -t 2 ]; then printf '%s …\n' "$1" >&2; fi
  while :; do
    if [ -t 2 ]; then
      last=$(tail -n 1 "$2" 2>/dev/null | tr -d '\000-\037')
      last="$1: $seconds s  $last"
      printf '\r\033[K%s' "${last:0:$((columns - 1))}" >&2
    elif [ "$seconds" -gt 0 ] && [ $((seconds % 30)) -eq 0 ]; then
      printf '%s: %d s so far\n' "$1" "$seconds" >&2
    fi
    sleep 1 >/dev/null 2>&1
    seconds=$((seconds + 1))
  done
}

# parse_place OPTION…: sets $prefix, $destdir and $manifest, the list of what is installed there;
# what is for packaging/build goes to $options.
parse_place() {
  destdir=
  prefix=/usr/local
  if [ "$(id -u)" -ne 0 ]; then prefix=${HOME:-}/.local; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --destdir)
        [ $# -gt 1 ] || fail "$1 needs a folder"
        if [ "$1" = --prefix ]; then prefix=$2; else destdir=$2; fi
        shift
        ;;
      --prefix=*) prefix=${1#*=} ;;
      --destdir=*) destdir=${1#*=} ;;
      --shared) options+=("$1") ;;
      --help) usage && exit ;;
      *) fail "there is no option '$1'" "packaging/${0##*/} --help" ;;
    esac
    shift
  done
  prefix=${prefix%/}
  destdir=${destdir%/}
  # Exec= of a desktop entry is read in one way by every launcher only where nothing needs quotes.
  case $prefix in
    *[!A-Za-z0-9/._+-]* | */../* | */..)
      fail "a prefix of letters, digits and / . _ + - is needed, not '$prefix'" \
        "not every launcher understands quotes in a desktop entry"
      ;;
    /?*) ;;
    *) fail "the prefix has to be an absolute path, not '$prefix'" ;;
  esac
  manifest=$prefix/share/deeplinkd/installed-files
}

# tell_session: has those look again who keep what they read: the desktop's database of handlers,
# and where they run, the session bus and the person's service manager.
tell_session() {
  local applications=$prefix/share/applications
  if compgen -G "$applications/*.desktop" >/dev/null || [ -e "$applications/mimeinfo.cache" ]; then
    if command -v update-desktop-database >/dev/null; then
      update-desktop-database "$applications"
    else
      say "note: update-desktop-database is not installed: some openers find no handler without it"
      say "hint: apt-get install desktop-file-utils"
    fi
  fi
  if [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] && command -v dbus-send >/dev/null; then
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
      org.freedesktop.DBus.ReloadConfig >/dev/null || :
  fi
  if [ -S "${XDG_RUNTIME_DIR:-/nonexistent}/systemd/private" ]; then
    systemctl --user daemon-reload || :
  fi
}

# make_world: a home, data, state and settings below $folder, which the caller made, and a session
# bus there; the session's runtime directory is $runtime, or below $folder. The caller calls
# end_world when it ends.
folder=
runtime=
bus_pid=
make_world() {
  local ready
  unset BROWSER XDG_CURRENT_DESKTOP KDE_FULL_SESSION DESKTOP_SESSION GNOME_DESKTOP_SESSION_ID
  unset XDG_CONFIG_DIRS DBUS_STARTER_ADDRESS DBUS_STARTER_BUS_TYPE
  export HOME=$folder/home
  export XDG_DATA_HOME=$HOME/.local/share XDG_STATE_HOME=$HOME/.local/state
  export XDG_CONFIG_HOME=$HOME/.config XDG_CACHE_HOME=$HOME/.cache
  export XDG_DATA_DIRS=/usr/local/share:/usr/share
  export XDG_RUNTIME_DIR=${runtime:-$folder/run}
  export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
  mkdir -p "$XDG_DATA_HOME" "$XDG_CONFIG_HOME"
  mkdir -p -m 700 "$XDG_RUNTIME_DIR"
  mkfifo "$folder/address"
  dbus-daemon --session --nofork --nopidfile --nosyslog \
    --address="$DBUS_SESSION_BUS_ADDRESS" --print-address=5 \
    5>"$folder/address" >"$folder/bus.log" 2>&1 &
  bus_pid=$!
  if ! read -rt 10 ready <"$folder/address" || [ -z "$ready" ]; then
    fail "the session bus did not start: $(cat "$folder/bus.log")"
  fi
}

# end_world: with its bus everything ends that was started there.
end_world() {
  if [ -n "$bus_pid" ]; then
    kill "$bus_pid" 2>/dev/null || :
    wait "$bus_pid" 2>/dev/null || :
  fi
  rm -rf ${folder:+"$folder"} ${runtime:+"$runtime"}
}

# copy_plugin ID: puts a plugin of the repository into the world's data folder, where nobody but
# its owner can write it.
copy_plugin() {
  mkdir -p "$XDG_DATA_HOME/deeplinkd/plugins"
  cp -R "$root/data/plugins/$1" "$XDG_DATA_HOME/deeplinkd/plugins/"
  chmod -R go-w "$XDG_DATA_HOME/deeplinkd/plugins/$1"
}
