# SPDX-License-Identifier: MIT
# The cells of experiments/recall-law as C, from docs/experiments/recall-law.full.csv. A law is fitted to cells whose label is the
# name of a mechanism; others (keys that are drawn anew, random labels) have a label of their own and are left out.
# The interval of a cell is that of Student's t: its half width divided by the quantile is the standard error of the mean.
BEGIN {
    FS = ","
    split("12.706 4.3027 3.1824 2.7764 2.5706 2.4469 2.3646 2.3060 2.2622", quantile, " ") # 0.975, by degrees of freedom
}
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
$column["label"] ~ /^[a-z0-9]+$/ {
    runs = $column["runs"]
    half = ($column["accuracy_high"] - $column["accuracy_low"]) / 2
    error = (runs > 1 && runs <= 10) ? half / quantile[runs - 1] : 0
    printf "{\"%s\", {%d, %d, %d}, %d, %d, %s, %.9g},\n", $column["label"], $column["heads"], $column["dk"], $column["dv"],
        $column["task.N"], $column["task.V"], $column["accuracy"], error
}
