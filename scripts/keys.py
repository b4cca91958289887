#!/usr/bin/env python3
"""Check examples against the JSON Schema of scenes, and list what scenes may say and no example says, or the reference
does not explain.

    scripts/keys.py SCHEMA [--reference SCENES.md] EXAMPLES...

SCHEMA is what `scree check --schema` prints, EXAMPLES are scenes (and parts that they include). Keys are counted
once for each map of the schema (`joints[].friction`, for whichever kind of joint has it); kinds, laws and other
named choices count as well, except those that are the default. The exit status is 1 if the schema refuses an
example or if something is left. With --reference every key must be in the index of docs/SCENES.md, with a link to a
section about its own map.
"""
import argparse
import json
import re
import sys

import jsonschema
import yaml

# Choices that are no part of what a scene describes: which method solves it, and how its error is measured.
METHODS = ('solver.name', 'solver.measure', 'solver.flow', 'time.scheme')
# Maps that stand at several places and are one thing.
SAME = {'region': 'region', 'held': 'region', 'nodes': 'region', 'rotation': 'rotation', 'motor': 'motor', 'shape': 'shape',
        'contact': 'law', 'pairs': 'law'}


def place_of(place, key):
    """Where the map under a key is counted."""
    if key in SAME and place != 'analysis':
        return SAME[key]
    return place + '.' + key if place else key


def entry_of(place):
    """Where the entries of a list are counted."""
    return place if place == 'law' else place + '[]'


def map_of(place, keys):
    """Where a map with these keys is counted: signals are one thing at all places."""
    return 'signal' if 'times' in keys or 'csv' in keys else place


class Walk:
    """Walks through the schema, alone or beside a scene, and collects places."""

    def __init__(self, schema):
        self.schema = schema
        self.said = set()

    def resolve(self, node):
        while '$ref' in node:
            target = self.schema
            for part in node['$ref'].lstrip('#/').split('/'):
                target = target[part]
            node = target
        return node

    def branches(self, node):
        """The alternatives of a node, each without further alternatives."""
        node = self.resolve(node)
        parts = [branch for word in ('allOf', 'anyOf', 'oneOf') for branch in node.get(word, [])]
        if not parts:
            return [node]
        return [leaf for part in parts for leaf in self.branches(part)]

    def all(self, node, given, seen):
        """Everything that can be said."""
        default = re.search(r'default:? ([\w-]+)|([\w-]+) \(default\)', node.get('description', ''))
        for branch in self.branches(node):
            place = map_of(given, branch.get('properties', {}))
            for value in branch.get('enum', []) + ([branch['const']] if 'const' in branch else []):
                if isinstance(value, str) and not (default and value in default.groups()):
                    self.said.add('%s: %s' % (place, value))
            if 'items' in branch and isinstance(branch['items'], dict):
                self.all(branch['items'], entry_of(place), seen)
            if isinstance(branch.get('additionalProperties'), dict):
                self.all(branch['additionalProperties'], place + '.NAME', seen)
            for key, child in branch.get('properties', {}).items():
                self.said.add(place + '.' + key if place else key)
                if (id(child), place) not in seen:
                    seen.add((id(child), place))
                    self.all(child, place_of(place, key), seen)

    def scene(self, value, place, known):
        """What one scene says; `known` is everything that can be said."""
        if isinstance(value, str) and '%s: %s' % (place, value) in known:
            self.said.add('%s: %s' % (place, value))
        if isinstance(value, list):
            for entry in value:
                self.scene(entry, entry_of(place), known)
        if isinstance(value, dict):
            place = map_of(place, value)
            for key, child in value.items():
                name = place + '.' + key if place else key
                if name in known:
                    self.said.add(name)
                    self.scene(child, place_of(place, key), known)
                else:  # a map of the user's names
                    self.scene(child, place + '.NAME', known)


# Names of sections for maps that stand at several places.
SECTIONS = {'': 'the scene', 'shape': 'shapes', 'law': 'laws', 'signal': 'signals', 'motor': 'joints.motor',
            'generators[].scale': 'scale', 'shape.parts[]': 'shapes', 'shape.random': 'shapes'}


def unexplained(places, reference):
    """Keys that the index of the reference does not have for their map."""
    index = {}
    for key, links in re.findall(r'`(\w+)` ((?:\[[^]]*\]\([^)]*\)(?:, )?)+)', reference.split('## Index of keys')[1]):
        index[key] = re.findall(r'\[([^]]*)\]\((#[^)]*)\)', links)
    anchors = {'#' + re.sub(r'[^\w -]', '', heading).strip().lower().replace(' ', '-')
               for heading in re.findall(r'^#+ (.*)$', reference, re.M)}
    for place in sorted(places):
        about, _, key = place.rpartition('.')
        if key in ('kind', 'NAME'):  # the kinds are the headings
            continue
        names = (SECTIONS.get(about, about.replace('[]', '')), about.rpartition('.')[2], 'pairs' if about == 'law' else '')
        links = [link for shown, link in index.get(key, []) if any(name and name in shown for name in names)]
        if not links or any(link not in anchors for link in links):
            yield place


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('schema')
    parser.add_argument('--reference')
    parser.add_argument('examples', nargs='+')
    arguments = parser.parse_args()
    with open(arguments.schema, encoding='utf-8') as file:
        schema = json.load(file)
    everything = Walk(schema)
    everything.all(schema, '', set())
    examples = Walk(schema)
    validator = jsonschema.Draft202012Validator(schema)
    refused = 0
    for name in arguments.examples:
        with open(name, encoding='utf-8') as file:
            scene = yaml.safe_load(file)
        examples.scene(scene, '', everything.said)
        for error in validator.iter_errors(scene):
            best = jsonschema.exceptions.best_match([error])
            print('%s: %s: %s' % (name, best.json_path, best.message[:200]))
            refused += 1
    left = sorted(word for word in everything.said - examples.said if word.split(':')[0] not in METHODS)
    print('%d keys and choices, %d in no example' % (len(everything.said), len(left)))
    print(''.join('  %s\n' % word for word in left), end='')
    missing = []
    if arguments.reference:
        with open(arguments.reference, encoding='utf-8') as file:
            missing = list(unexplained([word for word in everything.said if ':' not in word], file.read()))
        print('%d keys not in the reference' % len(missing))
        print(''.join('  %s\n' % word for word in missing), end='')
    return 1 if left or refused or missing else 0


if __name__ == '__main__':
    sys.exit(main())
