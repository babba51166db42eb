"""A first contest without a file: ``python -m fairwire``, or ``fairwire-demo`` from the installed wheel.

With the name of a scenario file, it runs that. Everything else is for Python; this is not a command line.
"""

from __future__ import annotations

import sys

from . import Result, Scenario, ScenarioError

CONTEST = {
    "format": 2,
    "name": "demo",
    "title": "Nine TCP flows against one 5 Mbit/s UDP flow",
    "duration": "20 s",
    "warm_up": "5 s",
    "seeds": "1..=3",
    "disciplines": ["tail-drop", "red", "faba", "fq-codel"],
    "link": {"rate": "10 Mbit/s", "delay": "10 ms", "buffer": "300 packets"},
    "flow": [
        {
            "group": "tcp",
            "count": 9,
            "source": "bulk",
            "tcp": {"profile": "modern", "control": "cubic"},
            "access": {"rate": "100 Mbit/s", "delay": "2 ms"},
        },
        {
            "group": "udp",
            "source": {"cbr": {"rate": "5 Mbit/s"}},
            "access": {"rate": "100 Mbit/s", "delay": "2 ms"},
        },
    ],
}


def shown(result: Result) -> str:
    """The share of each group and the mean wait, under each discipline."""
    summary = result.summary
    means = dict(zip(zip(summary["discipline"], summary["measure"]), summary["mean"]))
    shares = [name for name in dict.fromkeys(summary["measure"]) if name.startswith("share.")]
    disciplines = list(dict.fromkeys(summary["discipline"]))
    width = max(map(len, disciplines)) + 2
    lines = ["".ljust(width) + "".join(name.rjust(14) for name in [*shares, "mean wait, ms"])]
    for of in disciplines:
        cells = [f"{means[of, name]:.3f}" if (of, name) in means else "-" for name in shares]
        wait = f"{1e3 * means[of, 'sojourn_mean_s']:.1f}" if (of, "sojourn_mean_s") in means else "-"
        lines.append(of.ljust(width) + "".join(cell.rjust(14) for cell in [*cells, wait]))
    return "\n".join([*lines, "share: what the group got over what is max-min fair; 1 is fair"])


def main() -> int:
    """Runs the contest and prints the results; returns the exit code."""
    given = sys.argv[1:]
    if len(given) > 1 or any(word.startswith("-") for word in given):
        print("allowed: nothing, or the name of a scenario file", file=sys.stderr)
        return 2
    try:
        scenario = Scenario.load(given[0]) if given else Scenario(CONTEST)
        print(shown(scenario.run(progress=sys.stderr.isatty())))
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
