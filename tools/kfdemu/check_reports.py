"""Reads the reports of `kfdemu run --check-report`."""
import json


def read(text):
    """The findings of all processes, each as check, rule, function, place, sentence and number of times."""
    return [of(finding) for process in json.loads(text)['processes'] for finding in process['findings']]


def of(finding):
    return {key: finding.get(key, '') for key in ('check', 'rule', 'function', 'what', 'instruction', 'count')} | {'at': place(finding)}


def place(finding):
    """The source line; for a leak, that of the host."""
    places = finding.get('source') or [frame for stack in finding.get('stacks', []) for frame in stack['frames'] if frame.get('file')]
    return f'{places[0]["file"]}:{places[0]["line"]}' if places else ''


def merged(findings):
    """One for each check, rule, function and instruction, with the sum of their counts: a suite has one in each of its programs."""
    groups = {}
    for finding in findings:
        key = tuple(finding[part] for part in ('check', 'rule', 'function', 'instruction', 'at'))
        groups.setdefault(key, {**finding, 'count': 0})['count'] += finding['count']
    return list(groups.values())
