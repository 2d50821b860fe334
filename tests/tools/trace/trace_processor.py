#!/usr/bin/env python3
"""Compares what Perfetto's trace_processor reads of traces with what `hsadrv trace report` does: kernels, copies and calls,
their times and bytes; and that nothing was wrong with the import.

Usage: trace_processor.py TRACE-PROCESSOR HSADRV TRACE...
"""
import csv
import json
import subprocess
import sys

WORK = """SELECT name, COUNT(*), SUM(dur), SUM(IFNULL(CAST(EXTRACT_ARG(arg_set_id, 'bytes') AS INT), 0)) FROM gpu_slice
          WHERE EXTRACT_ARG(arg_set_id, 'times') IS NULL GROUP BY name"""
CALLS = """SELECT slice.name, COUNT(*), SUM(dur) FROM slice JOIN thread_track ON track_id = thread_track.id
           WHERE dur >= 0 GROUP BY slice.name"""
STAGES = "SELECT render_stage_category, COUNT(*) FROM gpu_slice GROUP BY render_stage_category"
PROCESSES = "SELECT pid, 1 FROM process WHERE pid > 0"
ERRORS = "SELECT name, SUM(value) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0 GROUP BY name"
OTHER, COMPUTE = '0', '2'


def times(parts, *more):
    return {part['name']: (part['times']['count'], part['times']['total_ns'], *(part[key] for key in more))
            for part in parts if part['times']['count']}


def differences(processor, hsadrv, trace):
    def query(sql):
        run = subprocess.run([processor, '-Q', sql, trace], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return {name: tuple(int(number) for number in numbers) for name, *numbers in list(csv.reader(run.stdout.splitlines()))[1:]}

    report = json.loads(subprocess.check_output([hsadrv, 'trace', 'report', '--json', trace]))
    work = times(report['copy_kinds'], 'bytes')
    work.update({name: (*values, 0) for name, values in times(report['kernels']).items()})
    instants = {instant['name'] for instant in report['instants']}
    calls = {name: values for name, values in query(CALLS).items() if name not in instants}
    stages = query(STAGES)
    for what, theirs, ours in (
            ('kernels and copies', query(WORK), work),
            ('calls', calls, times(report['calls'])),
            ('processes', {int(pid) for pid in query(PROCESSES)}, {process['pid'] for process in report['processes']}),
            ('dispatches', stages.get(COMPUTE, (0,))[0], report['dispatches']),
            ('copies', stages.get(OTHER, (0,))[0], report['copies']),
            ('errors of the import', query(ERRORS), {})):
        if theirs != ours:
            yield f'{trace}: {what}: trace_processor {theirs}, report {ours}'


def main():
    processor, hsadrv, *traces = sys.argv[1:]
    found = [text for trace in traces for text in differences(processor, hsadrv, trace)]
    print('\n'.join(found) or f'{len(traces)} traces are equal')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
