#!/usr/bin/env python3
"""hsadrv bench copy beside a loop written by hand on the HSA runtime, in turns (A B B A A B B A).

Usage: bench_agrees.py [--rows] HSADRV HAND-WRITTEN [LAUNCHER…]

Prints for each direction and size both medians, their ratio, whether the spreads (p5 to p95 of all runs) overlap, and whether
hsadrv's median lies within the other's spread. A figure is no verdict: the exit status is 0 whatever they are. With --rows nothing is timed: few samples, and the exit status is 1 unless
both report the same rows and all data were right. LAUNCHER: what stands in front of both, such as `kfdemu run --`."""
import json
import statistics
import subprocess
import sys

directions = ["to-device", "from-device", "both-ways", "within-device"]
sizes = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return {row["size_bytes"]: row for row in json.loads(done.stdout)["rows"]}


def main(arguments):
    only_rows = arguments[0] == "--rows"
    hsadrv, by_hand, *launcher = arguments[only_rows:]
    samples, of_sizes = (3, sizes[:3]) if only_rows else (21, sizes)
    texts = [str(size) for size in of_sizes]

    def tool(direction):
        return run([*launcher, hsadrv, "bench", "copy", "--json", "--direction", direction, "--samples", str(samples), "--seconds",
                    "60", "--sizes", ",".join(texts)])

    def hand(direction):
        return run([*launcher, by_hand, direction, str(samples), *texts])

    overlapping = within = rows = 0
    if not only_rows:
        print(f"{'direction':<14} {'size':>9}  {'by hand us':>10} {'p5':>8} {'p95':>8}  {'hsadrv us':>10} {'p5':>8} {'p95':>8}  ratio  spreads")
    for direction in directions:
        tools, hands = [tool(direction)], [hand(direction)]
        if only_rows:
            if tools[0].keys() != hands[0].keys() or set(tools[0]) != set(of_sizes):
                sys.exit(f"{direction}: hsadrv has the sizes {list(tools[0])}, the other {list(hands[0])}, not {of_sizes}")
            wrong = [size for side in (tools[0], hands[0]) for size, row in side.items() if not row["verified"]]
            if wrong:
                sys.exit(f"{direction}: wrong data at {wrong}")
            continue
        for side, run_it in ((hands, hand), (tools, tool), (tools, tool), (hands, hand), (hands, hand), (tools, tool)):
            side.append(run_it(direction))
        for size in of_sizes:
            def spread(runs):
                times = [one[size]["time_ns"] for one in runs]
                return (statistics.median(t["median"] for t in times) / 1e3, min(t["p5"] for t in times) / 1e3,
                        max(t["p95"] for t in times) / 1e3)

            ours, theirs = spread(tools), spread(hands)
            overlap = ours[1] <= theirs[2] and theirs[1] <= ours[2]
            inside = theirs[1] <= ours[0] <= theirs[2]
            overlapping += overlap
            within += inside
            rows += 1
            print(f"{direction:<14} {size >> 10:>5} KiB  {theirs[0]:>10.1f} {theirs[1]:>8.1f} {theirs[2]:>8.1f}  {ours[0]:>10.1f} "
                  f"{ours[1]:>8.1f} {ours[2]:>8.1f}  {ours[0] / theirs[0]:5.2f}  {'overlap' if overlap else 'apart'}{', median within' if inside else ''}", flush=True)
    print("the same rows, all data right" if only_rows else
          f"{overlapping} of {rows} spreads overlap; of {within}, hsadrv's median is within the other's")


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(sys.argv[1:])
