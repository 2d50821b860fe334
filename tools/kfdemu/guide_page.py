"""Reads docs/guide/ci.md: its programs, their commands and output, its container file and its workflow.

A fence "```LANGUAGE FILE" is a file; "```sh NAME" is a command, and the text after it its output.
"""
import re


class Page:
    def __init__(self, path):
        fences = re.findall(r'^```(\w+) ?(\S*)\n(.*?)^```$', path.read_text(), re.MULTILINE | re.DOTALL)
        self.files = {name: body for language, name, body in fences if name and language != 'sh'}
        self.commands = {name: (body, fences[i + 1][2]) for i, (language, name, body) in enumerate(fences) if name and language == 'sh'}
        self.container, = (body for language, _, body in fences if language == 'dockerfile')
        self.workflow, = (body for language, _, body in fences if language == 'yaml')

    def container_commands(self):
        """The shell commands of the container file, in order."""
        joined = self.container.replace('\\\n', ' ')
        return [re.sub(' +', ' ', command) for command in re.findall(r'^RUN (.*)$', joined, re.MULTILINE)]

    def packages(self):
        """What the container file installs."""
        return [word for command in self.container_commands() if 'apt-get install' in command
                for word in command.split('apt-get install')[1].split() if not word.startswith('-')]

    def gpus(self):
        """The models of the workflow's matrix."""
        return re.findall(r'[\w-]+', re.search(r'gpu: \[(.*)\]', self.workflow)[1])

    def workflow_commands(self, gpu):
        """The commands of the workflow's job for a model."""
        return [command.replace('${{ matrix.gpu }}', gpu) for command in re.findall(r'^ *- run: (.*)$', self.workflow, re.MULTILINE)]
