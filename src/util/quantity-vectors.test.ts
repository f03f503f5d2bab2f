import { describe, expect, it } from "vitest";
import { Quantity } from "./quantity.ts";

// Results of k8s.io/apimachinery v0.36.1: the text, String(), String() after adding zero, Format, Value() and
// MilliValue(); "-" where its int64 overflows or it rounds negative fractions towards zero.
const accepted = `
0                            0                            0                            DecimalSI       0                    0
00                           0                            0                            DecimalSI       0                    0
-0                           0                            0                            DecimalSI       0                    0
+0                           0                            0                            DecimalSI       0                    0
0.0                          0                            0                            DecimalSI       0                    0
0Ki                          0                            0                            BinarySI        0                    0
0.000Gi                      0                            0                            BinarySI        0                    0
0e3                          0                            0                            DecimalExponent 0                    0
0m                           0                            0                            DecimalSI       0                    0
.0                           0                            0                            DecimalSI       0                    0
0.                           0                            0                            DecimalSI       0                    0
4                            4                            4                            DecimalSI       4                    4000
1                            1                            1                            DecimalSI       1                    1000
+5                           +5                           5                            DecimalSI       5                    5000
-5                           -5                           -5                           DecimalSI       -5                   -5000
007                          007                          7                            DecimalSI       7                    7000
5.                           5.                           5                            DecimalSI       5                    5000
.5                           500m                         500m                         DecimalSI       1                    500
0.5                          500m                         500m                         DecimalSI       1                    500
-.5                          -500m                        -500m                        DecimalSI       -1                   -500
+.5                          500m                         500m                         DecimalSI       1                    500
1.5                          1500m                        1500m                        DecimalSI       2                    1500
-1.5                         -1500m                       -1500m                       DecimalSI       -2                   -1500
1.50                         1500m                        1500m                        DecimalSI       2                    1500
1.500                        1.500                        1500m                        DecimalSI       2                    1500
1.234                        1.234                        1234m                        DecimalSI       2                    1234
-1.234                       -1.234                       -1234m                       DecimalSI       -2                   -1234
12.345678                    12.345678                    12345678u                    DecimalSI       13                   12346
0.001                        1m                           1m                           DecimalSI       1                    1
0.0001                       100u                         100u                         DecimalSI       1                    1
0.000001                     1u                           1u                           DecimalSI       1                    1
0.000000001                  1n                           1n                           DecimalSI       1                    1
0.0000000001                 1n                           1n                           DecimalSI       1                    1
0.00000000000000000000000001 1n                           1n                           DecimalSI       1                    1
-0.0000000001                -1n                          -1n                          DecimalSI       -                    -
1.0000000001                 1000000001n                  1000000001n                  DecimalSI       2                    1001
3.000                        3                            3                            DecimalSI       3                    3000
1000                         1k                           1k                           DecimalSI       1000                 1000000
1000000                      1M                           1M                           DecimalSI       1000000              1000000000
10000                        10k                          10k                          DecimalSI       10000                10000000
100000                       100k                         100k                         DecimalSI       100000               100000000
1500                         1500                         1500                         DecimalSI       1500                 1500000
1024                         1024                         1024                         DecimalSI       1024                 1024000
1n                           1n                           1n                           DecimalSI       1                    1
1u                           1u                           1u                           DecimalSI       1                    1
1m                           1m                           1m                           DecimalSI       1                    1
1k                           1k                           1k                           DecimalSI       1000                 1000000
1M                           1M                           1M                           DecimalSI       1000000              1000000000
1G                           1G                           1G                           DecimalSI       1000000000           1000000000000
1T                           1T                           1T                           DecimalSI       1000000000000        1000000000000000
1P                           1P                           1P                           DecimalSI       1000000000000000     1000000000000000000
1E                           1E                           1E                           DecimalSI       1000000000000000000  -
999n                         999n                         999n                         DecimalSI       1                    1
1000n                        1u                           1u                           DecimalSI       1                    1
1500n                        1500n                        1500n                        DecimalSI       1                    1
0.5n                         1n                           1n                           DecimalSI       1                    1
1.5n                         2n                           2n                           DecimalSI       1                    1
-0.5n                        -1n                          -1n                          DecimalSI       -                    -
1000u                        1m                           1m                           DecimalSI       1                    1
1500u                        1500u                        1500u                        DecimalSI       1                    2
500m                         500m                         500m                         DecimalSI       1                    500
250m                         250m                         250m                         DecimalSI       1                    250
1500m                        1500m                        1500m                        DecimalSI       2                    1500
2000m                        2                            2                            DecimalSI       2                    2000
1000m                        1                            1                            DecimalSI       1                    1000
0.1m                         100u                         100u                         DecimalSI       1                    1
100.5m                       100500u                      100500u                      DecimalSI       1                    101
1.5k                         1500                         1500                         DecimalSI       1500                 1500000
1.5M                         1500k                        1500k                        DecimalSI       1500000              1500000000
2.5G                         2500M                        2500M                        DecimalSI       2500000000           2500000000000
0.5T                         500G                         500G                         DecimalSI       500000000000         500000000000000
1.1P                         1100T                        1100T                        DecimalSI       1100000000000000     1100000000000000000
0.1E                         100P                         100P                         DecimalSI       100000000000000000   -
9E                           9E                           9E                           DecimalSI       9000000000000000000  -
100k                         100k                         100k                         DecimalSI       100000               100000000
1000k                        1M                           1M                           DecimalSI       1000000              1000000000
10M                          10M                          10M                          DecimalSI       10000000             10000000000
1000G                        1T                           1T                           DecimalSI       1000000000000        1000000000000000
1Ki                          1Ki                          1Ki                          BinarySI        1024                 1024000
1Mi                          1Mi                          1Mi                          BinarySI        1048576              1048576000
1Gi                          1Gi                          1Gi                          BinarySI        1073741824           1073741824000
1Ti                          1Ti                          1Ti                          BinarySI        1099511627776        1099511627776000
1Pi                          1Pi                          1Pi                          BinarySI        1125899906842624     1125899906842624000
1Ei                          1Ei                          1Ei                          BinarySI        1152921504606846976  -
7Ei                          7Ei                          7Ei                          BinarySI        8070450532247928832  -
8Ei                          9223372036854775807          9223372036854775807          BinarySI        9223372036854775807  -
9Ei                          9223372036854775807          9223372036854775807          BinarySI        9223372036854775807  -
1000Ei                       9223372036854775807          9223372036854775807          BinarySI        9223372036854775807  -
-9Ei                         -9223372036854775807         -9223372036854775807         BinarySI        -9223372036854775807 -
8Ki                          8Ki                          8Ki                          BinarySI        8192                 8192000
12Ki                         12Ki                         12Ki                         BinarySI        12288                12288000
1000Ki                       1000Ki                       1000Ki                       BinarySI        1024000              1024000000
1023Ki                       1023Ki                       1023Ki                       BinarySI        1047552              1047552000
1024Ki                       1Mi                          1Mi                          BinarySI        1048576              1048576000
1025Ki                       1025Ki                       1025Ki                       BinarySI        1049600              1049600000
2048Mi                       2Gi                          2Gi                          BinarySI        2147483648           2147483648000
0.5Ki                        512                          512                          BinarySI        512                  512000
0.5Mi                        512Ki                        512Ki                        BinarySI        524288               524288000
.5Gi                         512Mi                        512Mi                        BinarySI        536870912            536870912000
1.5Gi                        1536Mi                       1536Mi                       BinarySI        1610612736           1610612736000
1.5Ki                        1536                         1536                         BinarySI        1536                 1536000
-1.5Gi                       -1536Mi                      -1536Mi                      BinarySI        -1610612736          -1610612736000
5.Gi                         5.Gi                         5Gi                          BinarySI        5368709120           5368709120000
+1Gi                         +1Gi                         1Gi                          BinarySI        1073741824           1073741824000
007Mi                        007Mi                        7Mi                          BinarySI        7340032              7340032000
0.1Ki                        102400m                      102400m                      BinarySI        103                  102400
0.001Ki                      1024m                        1024m                        BinarySI        2                    1024
0.0001Ki                     102400u                      102400u                      DecimalSI       1                    103
-0.0001Ki                    -102400u                     -102400u                     DecimalSI       -                    -
0.0000000001Ki               103n                         103n                         DecimalSI       1                    1
0.1Gi                        107374182400m                107374182400m                BinarySI        107374183            107374182400
1.3Gi                        1395864371200m               1395864371200m               BinarySI        1395864372           1395864371200
1.1Mi                        1153433600m                  1153433600m                  BinarySI        1153434              1153433600
1.0000000001Ki               1024000000103n               1024000000103n               BinarySI        1025                 1024001
1.00000000000000000001Gi     1073741824000000001n         1073741824000000001n         BinarySI        1073741825           1073741824001
128974848                    128974848                    128974848                    DecimalSI       128974848            128974848000
129e6                        129e6                        129e6                        DecimalExponent 129000000            129000000000
129M                         129M                         129M                         DecimalSI       129000000            129000000000
123Mi                        123Mi                        123Mi                        BinarySI        128974848            128974848000
12345Ki                      12345Ki                      12345Ki                      BinarySI        12641280             12641280000
33554432                     33554432                     33554432                     DecimalSI       33554432             33554432000
107374182400                 107374182400                 107374182400                 DecimalSI       107374182400         107374182400000
99999999999999Ki             99999999999999Ki             99999999999999Ki             BinarySI        102399999999998976   -
9007199254740993             9007199254740993             9007199254740993             DecimalSI       9007199254740993     9007199254740993000
9223372036854775807          9223372036854775807          9223372036854775807          DecimalSI       9223372036854775807  -
9223372036854775808          9223372036854775808          9223372036854775808          DecimalSI       -                    -
18446744073709551616         18446744073709551616         18446744073709551616         DecimalSI       -                    -
9223372036854775807Ki        9223372036854775807          9223372036854775807          BinarySI        9223372036854775807  -
123456789012345678           123456789012345678           123456789012345678           DecimalSI       123456789012345678   -
1234567890123456789          1234567890123456789          1234567890123456789          DecimalSI       1234567890123456789  -
12345678901234567890         12345678901234567890         12345678901234567890         DecimalSI       -                    -
123456789.123456789          123456789.123456789          123456789123456789n          DecimalSI       123456790            123456789124
1234567890.1234567891        1234567890123456790n         1234567890123456790n         DecimalSI       1234567891           1234567890124
999999999999999999.999999999 999999999999999999999999999n 999999999999999999999999999n DecimalSI       1000000000000000000  -
1e3                          1e3                          1e3                          DecimalExponent 1000                 1000000
1E3                          1E3                          1e3                          DecimalExponent 1000                 1000000
1e+3                         1e+3                         1e3                          DecimalExponent 1000                 1000000
1e-3                         1e-3                         1e-3                         DecimalExponent 1                    1
1E-3                         1E-3                         1e-3                         DecimalExponent 1                    1
1e0                          1e0                          1                            DecimalExponent 1                    1000
1e1                          10                           10                           DecimalExponent 10                   10000
1e2                          100                          100                          DecimalExponent 100                  100000
1e4                          10e3                         10e3                         DecimalExponent 10000                10000000
1e5                          100e3                        100e3                        DecimalExponent 100000               100000000
10e3                         10e3                         10e3                         DecimalExponent 10000                10000000
100e3                        100e3                        100e3                        DecimalExponent 100000               100000000
1000e3                       1e6                          1e6                          DecimalExponent 1000000              1000000000
1.5e3                        1500                         1500                         DecimalExponent 1500                 1500000
1.5e4                        1.5e4                        15e3                         DecimalExponent 15000                15000000
0.5e1                        5                            5                            DecimalExponent 5                    5000
12e6                         12e6                         12e6                         DecimalExponent 12000000             12000000000
1e9                          1e9                          1e9                          DecimalExponent 1000000000           1000000000000
1e12                         1e12                         1e12                         DecimalExponent 1000000000000        1000000000000000
1e18                         1e18                         1e18                         DecimalExponent 1000000000000000000  -
1e19                         10e18                        10e18                        DecimalExponent -                    -
1e30                         1e30                         1e30                         DecimalExponent -                    -
-1e3                         -1e3                         -1e3                         DecimalExponent -1000                -1000000
1e-9                         1e-9                         1e-9                         DecimalExponent 1                    1
1e-10                        1e-9                         1e-9                         DecimalExponent 1                    1
1.5e-9                       2e-9                         2e-9                         DecimalExponent 1                    1
1e-100                       1e-9                         1e-9                         DecimalExponent 1                    1
123.456e2                    12345600e-3                  12345600e-3                  DecimalExponent 12346                12345600
5.e3                         5.e3                         5e3                          DecimalExponent 5000                 5000000
.5e3                         500                          500                          DecimalExponent 500                  500000
00e5                         0                            0                            DecimalExponent 0                    0
2Gi                          2Gi                          2Gi                          BinarySI        2147483648           2147483648000
16Gi                         16Gi                         16Gi                         BinarySI        17179869184          17179869184000
110                          110                          110                          DecimalSI       110                  110000
7910m                        7910m                        7910m                        DecimalSI       8                    7910
3920m                        3920m                        3920m                        DecimalSI       4                    3920
15Gi                         15Gi                         15Gi                         BinarySI        16106127360          16106127360000
20Gi                         20Gi                         20Gi                         BinarySI        21474836480          21474836480000
58Gi                         58Gi                         58Gi                         BinarySI        62277025792          62277025792000
+123456789012345678          +123456789012345678          123456789012345678           DecimalSI       123456789012345678   -
+1234567890123456789         1234567890123456789          1234567890123456789          DecimalSI       1234567890123456789  -
123456789012345.678          123456789012345.678          123456789012345678m          DecimalSI       123456789012346      123456789012345678
1234567890123456.789         1234567890123456789m         1234567890123456789m         DecimalSI       1234567890123457     1234567890123456789
1.234567890123               1234567891n                  1234567891n                  DecimalSI       2                    1235
1.234567891                  1.234567891                  1234567891n                  DecimalSI       2                    1235
+99999999999Ki               +99999999999Ki               99999999999Ki                BinarySI        102399999998976      102399999998976000
+999999999999Ki              999999999999Ki               999999999999Ki               BinarySI        1023999999998976     1023999999998976000
+99999Gi                     +99999Gi                     99999Gi                      BinarySI        107373108658176      107373108658176000
+999999Gi                    999999Gi                     999999Gi                     BinarySI        1073740750258176     1073740750258176000
0.9765625Ki                  1k                           1k                           BinarySI        1000                 1000000
-0.9765625Ki                 -1k                          -1k                          BinarySI        -1000                -1000000
0.9765Ki                     999936m                      999936m                      BinarySI        1000                 999936
1.0Ki                        1Ki                          1Ki                          BinarySI        1024                 1024000
`;

const rejected = [
  "",
  " ",
  "1 ",
  " 1",
  "1 Gi",
  "1.5.2",
  "1Kii",
  "1ki",
  "1K",
  "1mi",
  "1i",
  "1B",
  "1GB",
  "1Gib",
  "--1",
  "+-1",
  "-",
  "1-",
  "1e",
  "1e+",
  "1e1.5",
  "1e--3",
  "1e3m",
  "1Ee3",
  "1m5",
  "1mm",
  "1nu",
  "0x10",
  "1_000",
  "1,5",
  "Inf",
  "NaN",
  "abc",
  "½",
  "１",
  "1e99999999999999999999",
];

const vectors = accepted
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/ +/) as [string, string, string, string, string, string]);

describe("Quantity, as Kubernetes reads and writes it", () => {
  it.each(vectors)("02:A-1 reads %s and writes %s", (text, written, canonical, format, value, milliValue) => {
    const quantity = Quantity.parse(text);

    expect(quantity.toString()).toBe(written);
    expect(quantity.canonical()).toBe(canonical);
    expect(quantity.add(Quantity.zero).toString()).toBe(quantity.isZero() ? "0" : canonical);
    expect(quantity.format).toBe(format);
    if (value !== "-") expect(String(quantity.value())).toBe(value);
    if (milliValue !== "-") expect(String(quantity.milliValue())).toBe(milliValue);
  });

  it.each(rejected)("02:A-1 refuses %j", (text) => {
    expect(Quantity.tryParse(text)).toBeUndefined();
  });
});
