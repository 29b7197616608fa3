# SPDX-License-Identifier: MIT
# Published accuracies as C, from experiments/recall-published.csv. The column entries has one number for each test.
BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    tests = split($column["entries"], entries, " ")
    list = entries[1]
    for (i = 2; i <= tests; i++) list = list ", " entries[i]
    printf "{\"%s\", \"%s\", \"%s\", {%d, %d, %d}, %d, %d, {%s}, %s},\n", $column["source"], $column["model"],
        $column["mechanism"], $column["heads"], $column["dk"], $column["dv"], $column["values"], tests, list, $column["accuracy"]
}
