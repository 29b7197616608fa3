#!/bin/sh
# SPDX-License-Identifier: MIT
# The include arrows: a module may include the public headers of strictly lower layers, its own header and its own
# private files. Each outside library belongs to one module. And no assertions where foreign data is read. The table below is the picture of ARCHITECTURE.md.
set -eu
cd "$(dirname "$0")/.."

layer_of() {
    case $1 in
    base) echo 0 ;;
    num | io | kern | par | render) echo 1 ;;
    mech | task | cert) echo 2 ;;
    dataset | game | recall | attn | model | config) echo 3 ;;
    foreign | build | verify | protocol | train) echo 4 ;;
    claim | witness) echo 5 ;;
    bound | attack) echo 6 ;;
    decide | audit | drift) echo 7 ;;
    lab | bench | card) echo 8 ;;
    report | probe | serve) echo 9 ;;
    table | explore | doctor) echo 10 ;;
    tool) echo 11 ;;
    mpi) echo 12 ;;
    *) echo "" ;;
    esac
}
owner_of() {
    case $1 in
    jansson.h) echo io ;;
    zlib.h) echo io ;;
    gmp.h | mpfr.h) echo num ;;
    threads.h) echo num ;; # the end of a thread frees what MPFR keeps for it; num is beside par, not above it
    pthread.h) echo par ;;
    flint/*) echo attack ;;
    sqlite3.h) echo lab ;;
    curl/*) echo probe ;;
    microhttpd.h) echo serve ;;
    mpi.h) echo mpi ;;
    *) echo "" ;;
    esac
}

bad=0
complain() { echo "layers: $1" >&2; bad=$((bad + 1)); }

check_file() { # file module
    layer=$(layer_of "$2")
    [ -n "$layer" ] || { complain "$1: module '$2' is not in the table of scripts/layers.sh"; return; }
    for header in $(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$1"); do
        case $header in
        rung/*.h)
            other=${header#rung/}; other=${other%.h}
            [ "$other" = "$2" ] && continue
            case $other in rung | rung-lab) complain "$1: includes the umbrella $other.h"; continue ;; esac
            other_layer=$(layer_of "$other")
            [ -n "$other_layer" ] || { complain "$1: includes unknown module '$other'"; continue; }
            [ "$other_layer" -lt "$layer" ] || complain "$1: layer $layer ($2) includes layer $other_layer ($other)"
            ;;
        sys/* | arpa/*) ;;
        *)
            owner=$(owner_of "$header")
            case $owner:$header in :*/*) complain "$1: includes '$header' across directories" ;; esac
            [ -z "$owner" ] || [ "$owner" = "$2" ] || complain "$1: '$header' belongs to module $owner"
            ;;
        esac
    done
}

files=0
for file in src/*/*.c src/*/*.h src/*/without/*.h tool/*.c tool/*.h mpi/*.c; do
    [ -e "$file" ] || continue
    case $file in tool/*) module=tool ;; mpi/*) module=mpi ;; *) module=${file#src/}; module=${module%%/*} ;; esac
    check_file "$file" "$module"
    files=$((files + 1))
done
for file in include/rung/*.h; do
    module=$(basename "$file" .h)
    case $module in rung | rung-lab) continue ;; esac
    check_file "$file" "$module"
    files=$((files + 1))
done
# What reads the files and replies of others ends with a message, never with an assertion.
foreign='io cert config model foreign num protocol train lab report probe serve'
for module in $foreign; do
    for file in src/"$module"/*.c src/"$module"/*.h; do
        [ -e "$file" ] || continue
        ! grep -nE '(^|[^_[:alnum:]])(assert|abort)[[:space:]]*\(|<assert\.h>' "$file" >/dev/null ||
            complain "$file: has an assert, and $module reads what strangers have written; return a rung_status"
    done
done
# The checker of certificates stands alone: one file that includes nothing but the C library.
for file in check/*.[ch]; do
    [ "$file" = check/rung-check.c ] || complain "$file: the checker is one file"
done
for header in $(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*(.*)/\1/p' check/rung-check.c); do
    case $header in
    '<ctype.h>' | '<errno.h>' | '<float.h>' | '<math.h>' | '<setjmp.h>' | '<stdarg.h>' | '<stdbool.h>' | '<stddef.h>' | '<stdint.h>' | \
        '<stdio.h>' | '<stdlib.h>' | '<string.h>') ;;
    *) complain "check/rung-check.c: includes $header; the C library only" ;;
    esac
done
files=$((files + 1))
# Mechanisms are known by the class and traits of their registry row: nobody else compares their names.
for file in src/*/*.c tool/*.c; do
    case $file in src/mech/* | src/bench/*) continue ;; esac
    if grep -nE 'str(n?casecmp|n?cmp)\([^)]*mech->name|rung_mech_get\("' "$file" >&2; then
        complain "$file: asks for the name of a mechanism; ask for its class or traits (rung/mech.h)"
    fi
done
# One name for one file: a reader finds a file of src/ by its name alone.
for name in $(find src -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d); do
    complain "src: several files are called $name: $(find src -name "$name" | sort | tr '\n' ' ')"
done
# One header may be included after any other, so a type has one definition. (Nothing here includes all of them at once.)
for type in $(sed -nE 's/^typedef (enum|struct|union) (rung_[a-z0-9_]+) \{.*/\2/p' include/rung/*.h | sort | uniq -d); do
    complain "include: $type is defined in several headers: $(grep -lE "^typedef (enum|struct|union) $type \{" include/rung/*.h | tr '\n' ' ')"
done
# One word for one thing (docs/glossary.md). text_candidates.c is a list of English words.
unused='victims?|hunt(s|er|ers|ing)?|chas(e|es|ing)|baits?|crews?'
for file in $(find src include tool docs -name '*.[ch]' -o -name '*.md' | sort); do
    case $file in docs/glossary.md | docs/experiments/* | src/task/text_candidates.c) continue ;; esac
    if grep -niE "(^|[^[:alpha:]])($unused)([^[:alpha:]]|\$)" "$file" >&2; then
        complain "$file: has a word that docs/glossary.md does not use"
    fi
done
for file in include/rung/*.h src/*/*.h tool/*.h; do
    if grep -nE '^(typedef struct|\}) [a-z_]+_(conf|opts|args|words|settings|params)( \{|;)' "$file" | grep -vE 'rung_(task|mech)_conf' >&2; then
        complain "$file: a struct that a caller fills ends in _options (docs/glossary.md)"
    fi
    if grep -nE 'const char \*const [a-z_]+_words\[' "$file" >&2; then
        complain "$file: the names of an enumeration end in _names (docs/glossary.md)"
    fi
done
[ "$bad" = 0 ] || { echo "layers: $bad complaints" >&2; exit 1; }
echo "layers: $files files, every arrow points down, every name is unique"
