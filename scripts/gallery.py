#!/usr/bin/python3
"""Remake docs/GALLERY.md, docs/gallery.html and their pictures and films in docs/images/gallery: every scene is run
and drawn again.

    scripts/gallery.py [--jobs N] [NAME...]

With names only these scenes are run and drawn. Each run has one thread; the runs are in build/gallery. A run
that is there already is drawn again, not run again: remove build/gallery for that. The page is written when the
runs of all scenes are there.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

from PIL import Image  # Debian: python3-pil

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'gallery')
IMAGES = os.path.join(ROOT, 'docs', 'images', 'gallery')
LIMIT = 3_000_000  # bytes of all pictures and films together
LARGEST = 150_000  # bytes of a film
FRAMES, RATE = 60, 15  # at most so many frames of a film, at this rate

# name, title, options of `scree run`, options of `scree picture`, text
SCENES = []


def scene(name, title, run, picture, text):
    folder = 'examples' if os.path.exists(os.path.join(ROOT, 'examples', name + '.yaml')) else 'bench/scenes'
    SCENES.append((name, title, f'{folder}/{name}.yaml', run, picture, text))


scene('drum', 'Rotating drum', '--until 2', '',
      'Disks of several sizes in a rotating drum. The surface flows, and the grains below it are carried up '
      'with the wall. The largest velocities are in a thin layer.')
scene('hopper', 'Hopper', '--until 1', '--at 0.5',
      'Disks flow out of a hopper into a bin. Sensors measure the mass flux through the outlet and the force on '
      'the floor.')
scene('column', 'Column collapse', '', '--at 0.6',
      'A column of angular grains is held by two gates, which are pulled up. A table of velocities drives them.')
scene('clay', 'Cohesive columns', '', '--colour material',
      'The moulds around two columns of disks are removed. The left column is cohesive enough to stand, the '
      'right one fails.')
scene('repose', 'Heaps', '', '--colour material',
      'Two heaps poured from the same height. In the right heap the contacts resist rolling, and its slope is '
      'steeper.')
scene('dominoes', 'Dominoes', '', '--at 0.9',
      'A torque of short duration pushes the first domino. The run stops when the last domino has fallen.')
scene('mortar', 'Wall with mortar', '--until 0.3', '--colour id',
      'A ball hits a wall of bonded bricks. Bonds break where their strength is exceeded.')
scene('crush', 'Grains crushed by a press', '', '--colour stress',
      'Grains of bonded disks are crushed between a floor and a moving plate.')
scene('crank', 'Slider-crank', '', '',
      'A motor drives a slider-crank mechanism, which pushes a row of blocks. The reactions of joints and '
      'contacts are unknowns of one problem.')
scene('chain', 'Chain that hits a stack', '--until 1.2', '',
      'A chain of rods on hinges with a ball at its end swings down into a stack of boxes.')
scene('walker', 'Walker on gravel', '', '--at 1.5',
      'A vehicle with spokes as wheels, driven by motors of limited torque, walks over loose stones.')
scene('digging', 'Digging gravel', '', '--at 2',
      'A bucket on an arm digs and lifts stones. Three motors of limited force are solved together with the '
      'contacts.')
scene('wall', 'Wall hit by a ball', '--until 0.6', '--at 0.4',
      'A heavy ball hits a dry wall of bricks in 3D. Bricks touch with whole faces, at several contact points '
      'each.')
scene('arch', 'Arch', '--until 1', '--at 0.6',
      'A ball hits a semicircular arch of 27 voussoirs at a quarter of its span. The arch opens at four hinges.')
scene('dome', 'Dome and vault', '--until 0.2', '--colour id',
      'A dome and a barrel vault of blocks are held by friction alone. Generators of masonry create the blocks.')
scene('pile', 'Pile of blocks', '', '--colour id',
      'Blocks poured on a plane form a heap, whose slope depends on friction.')
scene('tetrapods', 'Tetrapods', '--until 1', '--colour id',
      'Tetrapods, bodies with four arms each, are dropped on a floor and interlock.')
scene('stones', 'Stones, cylinders and cones', '--until 1', '--colour id',
      'Polyhedra with eight vertices, cylinders and cones come to rest on faces, edges and rims.')
scene('rockfall', 'Rockfall', '--until 1.2', '',
      'Rocks fall down a slope of triangles read from an OBJ file.')
scene('funnel', 'Funnel', '--until 0.8', '',
      'Spheres and capsules flow out of a funnel read from an STL file into a bin.')
scene('sedimentation', 'Sedimentation', '', '--colour stress',
      'Spheres of several sizes fall into a box. The colours show the mean stress of each sphere.')
scene('collapse', 'Collapse of a packed column', '--until 0.35', '',
      'A dense column of spheres with a sieve curve, made by the generator `pack`, collapses on a plane.')
scene('tyre', 'Tyre on stones', '--until 0.4', '--colour stress',
      'A tyre of finite elements from a Gmsh file rolls over stones and deforms at the contacts.')
scene('orifice', 'Orifice', '--until 0.6', '',
      'Rounded blocks, superellipsoids and spheres flow through a hole in the floor of a pipe.')
scene('quarry', 'Quarry', '--until 0.7', '',
      'Stones of random shape flow out of a hopper over the ridges of a height field, which is given by an '
      'expression.')
scene('ellipses', 'Ellipses', '', '--chains',
      'Ellipses are poured into a box and rotate until their long axes are horizontal. Lines are force chains.')
scene('conveyor', 'Conveyor belt', '--until 3', '',
      'A conveyor belt, an obstacle whose surface moves while its shape is fixed, feeds ellipsoids into a box.')


def film(folder, name, picture):
    """A short film of a run: ffmpeg takes every k-th frame, smaller and coarser until it fits. Returns a message."""
    whole, small = os.path.join(folder, 'film.mp4'), os.path.join(IMAGES, name + '.mp4')
    words = picture.split()
    if '--at' in words:
        del words[words.index('--at'):words.index('--at') + 2]
    made = subprocess.run([SCREE, 'picture', folder, '--width', '480', '--height', '300', '--movie', whole, *words],
                          stdout=subprocess.PIPE, text=True)
    if made.returncode:
        return f'{name}: no film (status {made.returncode})'
    every = -(-int(made.stdout.split()[-6]) // FRAMES)
    for quality in (30, 33, 36, 39, 42):
        subprocess.run(['ffmpeg', '-v', 'error', '-y', '-i', whole, '-vf',
                        f"select='not(mod(n,{every}))',setpts=N/{RATE}/TB", '-r', str(RATE), '-c:v', 'libx264', '-preset',
                        'slow', '-crf', str(quality), '-movflags', '+faststart', small], check=True)
        if os.path.getsize(small) <= LARGEST:
            os.remove(whole)
            return None
    return f'{name}: the film has {os.path.getsize(small)} bytes, expected at most {LARGEST}'


def make(entry):
    """Run one scene unless its run is there, and draw it."""
    name, _, path, run, picture, _ = entry
    folder, image = os.path.join(WORK, name), os.path.join(IMAGES, name + '.png')
    environment = dict(os.environ, OMP_NUM_THREADS='1')
    done = os.path.join(folder, 'done')
    if not os.path.exists(done):
        began = time.monotonic()
        status = subprocess.run([SCREE, 'run', path, '-q', '-j', '1', '--force', '-o', folder, *run.split()], cwd=ROOT,
                                env=environment, stdout=subprocess.DEVNULL).returncode
        if status not in (0, 1):
            return f'{name}: the run failed (status {status})'
        print(f'{name}: {time.monotonic() - began:.0f} s{", not all steps certified" if status else ""}', flush=True)
        open(done, 'w').close()
    status = subprocess.run([SCREE, 'picture', folder, '--width', '640', '--height', '400', '-o', image,
                             *picture.split()], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL).returncode
    if status:
        return f'{name}: no picture (status {status})'
    # 256 colours are enough and take a fifth of the space.
    Image.open(image).convert('RGB').quantize(256, dither=Image.Dither.NONE).save(image, optimize=True)
    return film(folder, name, picture)


def uncertified(name):
    """The number of steps of a run, and of those that are not certified."""
    with open(os.path.join(WORK, name, 'telemetry.jsonl')) as file:
        steps = [step for step in map(json.loads, file) if 'certified' in step]
    return len(steps), sum(not step['certified'] for step in steps)


def page():
    """The text of docs/GALLERY.md."""
    lines = ['# Gallery', '',
             'This page shows what scree can simulate. Each scene has a picture, which links to a short film, and the two '
             'commands that run it and draw the picture. [gallery.html](gallery.html) plays all films on one page.', '',
             '- Run the commands in the folder of the sources, or copy the examples with `scree examples -o examples`.',
             '- The scenes are [examples](../examples/README.md) and scenes of `bench/scenes`.',
             '- Colours show the speed, unless the command has `--colour`.',
             '- Every time step is certified, unless the text says otherwise.',
             '- To make a film use `scree picture NAME-run --movie NAME.mp4` (needs ffmpeg), or "picture, film" on the page of '
             '`scree report NAME-run` (needs only a browser).',
             '- `scripts/gallery.py` makes the pictures, the films and both pages.', '']
    for name, title, path, run, picture, text in SCENES:
        steps, missed = uncertified(name)
        if missed:
            text += f' {missed} of its {steps} steps {"is" if missed == 1 else "are"} not certified.'
        lines += [f'## {title}', '', f'[![{title}](images/gallery/{name}.png)](images/gallery/{name}.mp4)', '', text, '', '```',
                  ' '.join(f'scree run {path} -o {name}-run {run}'.split()),
                  ' '.join(f'scree picture {name}-run {picture} -o {name}.png'.split()), '```', '']
    return '\n'.join(lines)


HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>scree: gallery</title>
<style>
:root { color-scheme: light dark; --text: #1d2733; --page: #f4f6f8; --card: #fff; --line: #d5dbe1; --dim: #52606d }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ec; --page: #14181c; --card: #1e242a; --line: #333c45; --dim: #9aa7b4 }
}
body { margin: 0; padding: 1rem; background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1rem }
article { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden }
article div { padding: 0.6rem 0.9rem }
video { display: block; width: 100%; aspect-ratio: 8 / 5; background: #fff }
h1 { font-size: 1.4rem; margin: 0 0 1rem }
h2 { font-size: 1.05rem; margin: 0 }
p { margin: 0.3rem 0; color: var(--dim) }
pre { margin: 0.4rem 0; white-space: pre-wrap; font-size: 12px }
</style>
<h1>scree: gallery</h1>
<main>
"""
TAIL = """</main>
<script>
// Films play while they are seen, and stop when they are not.
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? target.play().catch(() => {}) : target.pause();
});
for (const video of document.querySelectorAll('video')) seen.observe(video);
</script>
</html>
"""


def film_page():
    """The text of docs/gallery.html."""
    cards = [f'<article><video src="images/gallery/{name}.mp4" poster="images/gallery/{name}.png" muted loop playsinline '
             f'controls preload="none" title="{title}"></video><div><h2>{title}</h2><p>{text.replace("`", "")}</p><pre>'
             f'{" ".join(f"scree run {path} -o {name}-run {run}".split())}</pre></div></article>'
             for name, title, path, run, _, text in SCENES]
    return HEAD + '\n'.join(cards) + '\n' + TAIL


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--jobs', type=int, default=2, help='runs at a time')
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {entry[0] for entry in SCENES}
    if unknown:
        sys.exit(f'no scene of the gallery: {", ".join(sorted(unknown))}')
    os.makedirs(WORK, exist_ok=True)
    os.makedirs(IMAGES, exist_ok=True)
    chosen = [entry for entry in SCENES if not arguments.names or entry[0] in arguments.names]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        wrong = [message for message in pool.map(make, chosen) if message]
    if all(os.path.exists(os.path.join(WORK, entry[0], 'done')) for entry in SCENES):
        with open(os.path.join(ROOT, 'docs', 'GALLERY.md'), 'w') as file:
            file.write(page())
        with open(os.path.join(ROOT, 'docs', 'gallery.html'), 'w') as file:
            file.write(film_page())
    else:
        print('docs/GALLERY.md is as it was: runs of other scenes are missing')
    size = sum(os.path.getsize(os.path.join(IMAGES, file)) for file in os.listdir(IMAGES))
    print(f'{len(os.listdir(IMAGES))} pictures and films, {size / 1e6:.2f} MB')
    if size > LIMIT:
        wrong.append(f'pictures and films have {size} bytes, expected at most {LIMIT}')
    sys.exit('\n'.join(wrong) if wrong else 0)


if __name__ == '__main__':
    main()
