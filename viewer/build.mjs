// Bundle src/ with three.js, uPlot and fflate into one file, dist/page.html: style and script are
// inside it and it asks the network for nothing. The file is kept in the repository, so that the C
// build embeds it without Node.
//
//   npm ci && node build.mjs           write dist/page.html
//   node build.mjs --check             fail when dist/page.html is not what the sources make
//
// `scree report` replaces the line <!--scree-payload--> by the data of a run.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(root, ...path), 'utf8');

// What the page is made of, in one number: tests/cli/page.sh compares it without Node.
const sources = ['build.mjs', 'package-lock.json', 'package.json']
  .concat(readdirSync(join(root, 'src')).map((name) => `src/${name}`))
  .sort();
const sums = sources.map((name) => createHash('sha256').update(read(name)).digest('hex'));
const sum = createHash('sha256').update(sums.map((s) => `${s}\n`).join('')).digest('hex');

const bundle = (name, define) => build({
  entryPoints: [join(root, 'src', name)],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none',
  write: false,
  define,
});
// The page starts its worker from a text: a file of its own could not be found by a page that is one.
const worker = await bundle('worker.js', {});
const result = await bundle('main.js', { SCREE_WORKER: JSON.stringify(worker.outputFiles[0].text) });
const css = await build({
  entryPoints: [join(root, 'src/style.css')],
  bundle: true,
  minify: true,
  charset: 'ascii',
  write: false,
});
// A closing tag inside a script or a style would end it.
const script = result.outputFiles[0].text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
const licence =
  'This page contains three.js (c) three.js authors, uPlot (c) Leon Sorokin, fflate (c) Arjun Barrett, ' +
  'all under the MIT licence, and scree, under the Apache-2.0 licence.';
const page = read('src/index.html')
  .replace('<!--licence-->', () => `<!-- ${licence} -->`)
  .replace('<!--sources-->', () => `<meta name="scree-sources" content="${sum}">`)
  .replace('<!--style-->', () => `<style>${css.outputFiles[0].text}</style>`)
  .replace('<!--script-->', () => `<script>${script}</script>`);

const target = join(root, 'dist', 'page.html');
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== page) {
    console.error('viewer: dist/page.html is not what the sources make; run npm ci && node build.mjs in viewer/');
    process.exit(1);
  }
  console.log('viewer: dist/page.html is up to date');
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, page);
  console.log(`viewer: dist/page.html, ${(page.length / 1024).toFixed(0)} kB`);
}
