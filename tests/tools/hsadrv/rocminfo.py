"""Whether `hsadrv info --full` says what rocminfo says: every label of rocminfo's report, in its order, with its value, in the same
section (system; agent N; its pool N, ISA N). Usage: rocminfo.py ROCMINFO-REPORT HSADRV-REPORT

What hsadrv may have between those lines is listed here, and what may differ; all else is a fault. Exit status 1: they differ."""
import pathlib
import re
import sys

# Labels that came after rocminfo 5.2, and with which release of ROCm. hsadrv prints them wherever the runtime knows them.
NEWER = {
    "ASIC Revision:": "5.3",
    "Mwaitx:": "5.7",
    "DMAbuf Support:": "5.7",
    "Packet Processor uCode::": "5.7",
    "SDMA engine uCode::": "5.7",
    "IOMMU Support::": "5.7",
    "Runtime Ext Version:": "6.1",
    "Coherent Host Access:": "6.1",
    "Alloc Recommended Granule:": "6.1",
    "Memory Properties:": "6.2",
    "XNACK enabled:": "6.3",
    "VMM Support:": "6.3",
}
# Values that may differ between two runs. The runtime tells nothing live that rocminfo prints: free memory is not among it.
LIVE = {}

LINE = re.compile(r"(?P<indent> *)(?:(?P<label>[xyz](?= )|[^:]*[^: ]::?)\s*(?P<value>.*?)|(?P<heading>[^:]+?))\s*$")
SEPARATOR = re.compile(r"[*=]+$")


def fields(report):
    """(section, label, value) of each line up to the last one of rocminfo's report. The section is the headings above it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", pathlib.Path(report).read_text(encoding="utf-8"))
    if "*** Done ***" not in text:
        sys.exit(f"{report}: not a whole report: there is no line *** Done ***\n{text[-500:]}")
    found, headings = [], []
    for line in text[: text.index("*** Done ***")].splitlines():
        if not line.strip() or SEPARATOR.match(line.strip()):
            continue
        match = LINE.match(line)
        if not match:
            sys.exit(f"{report}: what is this line? {line!r}")
        level = len(match["indent"]) // 2
        del headings[level:]
        headings += [""] * (level - len(headings))
        name = match["label"] or match["heading"]
        found.append((tuple(headings), name, match["value"] or ""))
        if not match["value"]:
            headings.append(name)
    return found


def text_of(field):
    section, label, value = field
    return f"{' / '.join(filter(None, section))} / {label} {value}".lstrip(" /")


def compare(theirs, ours):
    """What is wrong, as lines."""
    wrong, at = [], 0
    for field in theirs:
        start = at
        while at < len(ours) and ours[at][:2] != field[:2]:
            at += 1
        if at == len(ours):
            wrong.append(f"missing, or not in its place: {text_of(field)}")
            at = start
            continue
        wrong += [f"not a line of rocminfo: {text_of(extra)}" for extra in ours[start:at] if extra[1] not in NEWER]
        if ours[at][2] != field[2] and field[1] not in LIVE:
            wrong.append(f"rocminfo says {text_of(field)}, hsadrv {ours[at][2]}")
        at += 1
    return wrong + [f"not a line of rocminfo: {text_of(extra)}" for extra in ours[at:] if extra[1] not in NEWER]


theirs, ours = fields(sys.argv[1]), fields(sys.argv[2])
wrong = compare(theirs, ours)
print("\n".join(wrong[:20]) if wrong else f"{len(theirs)} lines agree")
sys.exit(bool(wrong))
