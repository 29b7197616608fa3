#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh [--map VERSION] HEADER...: the functions and variables that public headers declare, one name a line and sorted, or
# as a version script for the linker, in which everything else is local.
set -eu

map=
[ "$1" != --map ] || { map=$2; shift 2; }

# Declarations end with a semicolon outside of braces. A typedef declares a type, and a body in braces is an inline function.
names=$(awk '
    function take(text,   name) {
        gsub(/[[:space:]]+/, " ", text)
        if (text ~ /^ ?typedef / || text !~ /rung_/) return
        if (text ~ /^ ?(struct|enum|union) [a-z0-9_]+ ?$/) return
        if (text ~ /^ ?extern /) { # variables, perhaps several
            while (match(text, /rung_[a-z0-9_]+ ?(\[[^]]*\])? ?(,|$)/)) {
                name = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                sub(/[^a-z0-9_].*/, "", name)
                print name
            }
        } else { # functions, perhaps several of one type
            while (match(text, /rung_[a-z0-9_]+ ?\(/)) {
                name = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                sub(/ ?\($/, "", name)
                print name
                text = after_arguments(text)
            }
        }
    }
    function after_arguments(text,   depth, i, c) {
        depth = 1
        for (i = 1; i <= length(text) && depth; i++) {
            c = substr(text, i, 1)
            depth += (c == "(") - (c == ")")
        }
        return substr(text, i)
    }
    FNR == 1 { statement = ""; depth = 0; comment = 0; continued = 0 }
    {
        line = $0
        if (continued || line ~ /^[[:space:]]*#/) { continued = line ~ /\\$/; if (!comment) next }
        out = ""
        while (line != "") { # without comments
            if (comment) {
                at = index(line, "*/")
                if (!at) { line = ""; break }
                line = substr(line, at + 2); comment = 0
            } else {
                at = index(line, "/*")
                if (!at) { out = out line; line = ""; break }
                out = out substr(line, 1, at - 1) " "; line = substr(line, at + 2); comment = 1
            }
        }
        if (out ~ /^RUNG_API_(BEGIN|END)$/) next
        for (i = 1; i <= length(out); i++) {
            c = substr(out, i, 1)
            if (c == "{") depth++
            if (depth == 0 && c == ";") { take(statement); statement = "" }
            else if (depth == 0) statement = statement c
            if (c == "}" && --depth == 0 && statement ~ /static inline|\) *$/) statement = ""
        }
        statement = statement " "
    }' "$@" | LC_ALL=C sort -u)

if [ -z "$map" ]; then
    echo "$names"
else
    echo "$map {"
    echo "global:"
    echo "$names" | sed 's/.*/    &;/'
    echo "local:"
    echo "    *;"
    echo "};"
fi
