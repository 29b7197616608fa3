#!/bin/sh
# SPDX-License-Identifier: MIT
# version.sh: prints the version of include/rung/base.h, and fails if a file that cannot take it from there says another one.
# version.sh MAJOR.MINOR.PATCH: writes that version into all of them. CONTRIBUTING.md has the other steps of a release.
set -eu
cd "$(dirname "$0")/.."

of_header() {
    sed -n 's/^#define RUNG_VERSION_[MP][AIT][JNT][A-Z]* *\([0-9]*\)$/\1/p' include/rung/base.h | paste -sd. -
}

# Lines "file|what stands before the version|what stands after it".
copies() {
    cat <<'END'
CITATION.cff|^version: |$
check/rung-check.c|^#define VERSION "|"$
check/rung-check.1|^\.TH RUNG-CHECK 1 "" "rung |" "User Commands"$
END
}

replace() { # file expression
    sed "$2" "$1" >"$1.new"
    cat "$1.new" >"$1" # keeps the mode of the file
    rm "$1.new"
}

check() {
    version=$(of_header)
    copies | while IFS='|' read -r file before after; do
        said=$(sed -n "s/$before\([0-9.]*\)$after/\1/p" "$file" | head -n 1)
        [ "$said" = "$version" ] || { echo "version: $file says '$said', include/rung/base.h $version" >&2; exit 1; }
    done || exit 1
    said=$(sed -n '1s/^rung (\([0-9.]*\)) .*/\1/p' debian/changelog)
    [ "$said" = "$version" ] || { echo "version: debian/changelog says '$said', include/rung/base.h $version" >&2; exit 1; }
    grep -q "^## $version" CHANGELOG.md || { echo "version: CHANGELOG.md has no section $version" >&2; exit 1; }
}

write() { # version
    case $1 in *[!0-9.]* | *.*.*.* | .* | *. | *..*) set -- '' ;; *.*.*) ;; *) set -- '' ;; esac
    [ -n "$1" ] || { echo "version: a version is MAJOR.MINOR.PATCH, three numbers" >&2; exit 2; }
    old=$(of_header) rest=$1
    for word in MAJOR MINOR PATCH; do
        replace include/rung/base.h "s/^\(#define RUNG_VERSION_$word  *\)[0-9]*\$/\1${rest%%.*}/"
        rest=${rest#*.}
    done
    copies | while IFS='|' read -r file before after; do
        replace "$file" "s/\($before\)[0-9.]*\($after\)/\1$1\2/"
    done
    [ "$old" != "$1" ] || return 0
    {
        printf 'rung (%s) unstable; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n' "$1"
        printf ' -- The rung authors <rung@localhost.localdomain>  %s\n\n' "$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S +0000')"
        cat debian/changelog
    } >debian/changelog.new
    mv debian/changelog.new debian/changelog
}

[ $# = 0 ] || write "$1"
if [ $# = 0 ]; then
    check
    of_header
fi
