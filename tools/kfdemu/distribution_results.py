"""The results of distribution as a table, as a list of findings, and as JUnit XML."""
import collections
import os
import xml.etree.ElementTree as xml

import check_reports


def table(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row['release'], row['gpu'], row['suite']].append(row)
    lines = [('release', 'gpu', 'suite', 'package', 'version', 'programs', 'passed', 'failed', 'skipped', 'over the limit', 'findings',
              'seconds', 'causes')]
    for (release, gpu, suite), group in groups.items():
        package = group[0]['packages'][0]
        causes = sorted({cause or 'unexplained: ' + test for row in group for test, cause in row['causes'].items()})
        lines.append((release, gpu, suite, package['name'], package['version'], str(len(group)), str(sum(r['passed'] for r in group)),
                      str(sum(len(r['failed']) for r in group)), str(sum(r['skipped'] for r in group)),
                      str(sum(r['unfinished'] for r in group)), str(len(findings_of(group))),
                      f'{sum(r["seconds"] for r in group):.0f}', '; '.join(causes)))
    return lines


def findings_of(rows):
    return check_reports.merged([finding for row in rows for finding in row['findings']])


def print_findings(rows, most=100):
    """The first ones; the others are in the JSON file."""
    findings = findings_of(rows)
    for finding in findings[:most]:
        print(f'{finding["check"]} {finding["rule"]}, {finding["count"]} times: {finding["function"]} {finding["at"]} '
              f'{finding["instruction"]}: {finding["what"]}')
    if len(findings) > most:
        print(f'and {len(findings) - most} more: --json has all')


def print_table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def write_junit(path, rows):
    suites = xml.Element('testsuites', name='distribution')
    for row in rows:
        suite = xml.SubElement(suites, 'testsuite', name=f'{row["release"]}.{row["gpu"]}.{row["suite"]}',
                               tests=str(row['passed'] + len(row['failed']) + row['skipped'] + row['unfinished']),
                               failures=str(len(row['failed'])), skipped=str(row['skipped'] + row['unfinished']),
                               time=str(row['seconds']))
        case = xml.SubElement(suite, 'testcase', name=os.path.basename(row['program']), time=str(row['seconds']))
        for test, cause in row['causes'].items():
            xml.SubElement(case, 'failure', message=test).text = cause or 'unexplained'
        for finding in row['findings']:
            xml.SubElement(case, 'failure', message=f'{finding["check"]}: {finding["function"]}').text = finding['what']
    xml.ElementTree(suites).write(path, encoding='unicode', xml_declaration=True)
