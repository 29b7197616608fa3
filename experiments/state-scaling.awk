# SPDX-License-Identifier: MIT
# The rows of state-scaling.sh to a figure: for each layer the smallest state that learnt, median over seeds with every seed as a dot, against n,
# both on logarithmic axes, beside the bits that theorem A proves to be necessary.
function x(n) { return 70 + 400 * (log(n) - log(1.5)) / (log(250) - log(1.5)) }
function y(b) { return 400 - 370 * (log(b) - log(2)) / (log(100000) - log(2)) }
function line(style, text) { printf "<path class=\"%s\" d=\"%s\"/>\n", style, text }
BEGIN {
    FS = ","
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 450\" role=\"img\" aria-label=\"bits of the smallest state that learnt against n\">"
    print "<style>text{font:13px system-ui,sans-serif;fill:#444}.g{stroke:#8884;fill:none}path{fill:none;stroke-width:2}.p{stroke:#a01d12;stroke-width:3}" \
        ".c0{stroke:#222;fill:none}.c1{stroke:#0b6e4f}.c2{stroke:#5577aa}.c3{stroke:#b3731d}.c4{stroke:#7a3fa0}" \
        "circle.c0{fill:#222}circle.c1{fill:#0b6e4f}circle.c2{fill:#5577aa}circle.c3{fill:#b3731d}circle.c4{fill:#7a3fa0}" \
        "@media(prefers-color-scheme:dark){text{fill:#ccc}.c0{stroke:#eee}circle.c0{fill:#eee}}</style>"
    for (b = 10; b <= 10000; b *= 10) {
        printf "<path class=\"g\" d=\"M70 %.1fH470\"/><text x=\"62\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y(b), y(b) + 4, b
    }
}
NR > 1 && $8 == 1 {
    if (!($1 in place)) { place[$1] = layers; name[layers++] = $1 }
    if (!($2 in size)) { size[$2] = 1; sizes[++many] = $2 }
    count[$1, $2]++
    bits[$1, $2, count[$1, $2]] = $4
}
END {
    for (i = 1; i <= many; i++)
        printf "<path class=\"g\" d=\"M%.1f 30V400\"/><text x=\"%.1f\" y=\"418\" text-anchor=\"middle\">%d</text>\n", x(sizes[i]), x(sizes[i]), sizes[i]
    print "<text x=\"270\" y=\"440\" text-anchor=\"middle\">n, values of four kinds to look up</text>"
    print "<text x=\"70\" y=\"18\">bits of the smallest state that learnt (16-bit floats)</text>"
    line("p", sprintf("M%.1f %.1fL%.1f %.1f", x(2), y(4), x(200), y(400)))
    printf "<text x=\"478\" y=\"%.1f\">proved: n log2 V</text>\n", y(400) + 4
    for (l = 0; l < layers; l++) {
        d = ""; last = 0
        for (i = 1; i <= many; i++) {
            k = count[name[l], sizes[i]]
            if (!k) continue
            for (a = 1; a <= k; a++) v[a] = bits[name[l], sizes[i], a]
            for (a = 1; a <= k; a++) for (b = a + 1; b <= k; b++) if (v[b] < v[a]) { t = v[a]; v[a] = v[b]; v[b] = t }
            for (a = 1; a <= k; a++) printf "<circle class=\"c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", l, x(sizes[i]), y(v[a])
            last = v[int((k + 1) / 2)]
            d = d sprintf("%s%.1f %.1f", d == "" ? "M" : "L", x(sizes[i]), y(last))
        }
        if (d == "") continue
        line("c" l, d)
        where = y(last) + 4
        for (again = 1; again; ) {
            again = 0
            for (t in taken) if (where - taken[t] < 14 && taken[t] - where < 14) { where = taken[t] + 14; again = 1 }
        }
        taken[l] = where
        printf "<path class=\"c%d\" d=\"M474 %.1fh10\"/><text x=\"488\" y=\"%.1f\">%s</text>\n", l, where - 4, where, name[l]
    }
    print "</svg>"
}
