// The browser of the benchmarks: headless Chromium, which draws by SwiftShader, and the seconds of processor that its
// processes have used, by their kind: on a busy machine these say more than the clock.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, '../../tests/viewer/package.json'))('playwright-core');

export async function startBrowser() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const session = await browser.newBrowserCDPSession();
  const used = async () => {
    const sums = { renderer: 0, GPU: 0 };
    for (const p of (await session.send('SystemInfo.getProcessInfo')).processInfo) sums[p.type] = (sums[p.type] || 0) + p.cpuTime;
    return sums;
  };
  return { browser, used };
}
export const address = (page) => pathToFileURL(resolve(page)).href;
