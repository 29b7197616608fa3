# SPDX-License-Identifier: MIT
# Effective bits per number of a state: awk -f experiments/capacity-fit.awk docs/experiments/capacity-size.full.csv
# A mean accuracy a on a table of N values out of V says that at least N (log2 V - h(1-a) - (1-a) log2(V-1)) bits of it were carried
# (Fano; h the binary entropy). For each mechanism this is fitted over all cells by min(b E, N log2 V), E the numbers of the state: b by least squares.
# Prints rows of a table: mechanism, cells, b, root of the mean square error in bits.
BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$column["random_labels"] == 1 { next }
{
    name = $column["label"]
    if (!(name in cells)) order[++names] = name
    k = ++cells[name]
    N = $column["task.N"]; V = 1 / $column["chance"]
    table[name, k] = N * log2(V)
    numbers[name, k] = ($column["state_bits"] + $column["level_bits"]) / 32 # log-linear: one level after 2^i entries
    carried[name, k] = bits(N, V, $column["accuracy"])
}
END {
    for (i = 1; i <= names; i++) {
        name = order[i]
        b = fit(name)
        printf "| %s | %d | %.2f | %.1f |\n", name, cells[name], b, sqrt(error(name, b) / cells[name])
    }
}
function log2(x) { return log(x) / log(2) }
function bits(N, V, a,    e) {
    e = 1 - a
    if (a <= 1 / V) return 0
    if (e <= 0) return N * log2(V)
    return N * (log2(V) + e * log2(e) + a * log2(a) - e * log2(V - 1))
}
function error(name, b,    k, guess, sum) {
    for (k = 1; k <= cells[name]; k++) {
        guess = b * numbers[name, k]
        if (guess > table[name, k]) guess = table[name, k]
        sum += (guess - carried[name, k]) ^ 2
    }
    return sum
}
# The error has kinks and may have several valleys: all hundredths are tried.
function fit(name,    b, best, least) {
    least = -1
    for (b = 0; b <= 4; b += 0.01)
        if (least < 0 || error(name, b) < least) { least = error(name, b); best = b }
    return best
}
