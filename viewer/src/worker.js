// Decodes blocks in a worker thread, so that playing is not interrupted. Bundled by itself; the page
// starts it from its own text (build.mjs).
import { decode, fromBase64 } from './decode.js';

self.onmessage = ({ data: { id, stored } }) => {
  try {
    const columns = decode(typeof stored === 'string' ? fromBase64(stored) : stored);
    self.postMessage({ id, columns }, Object.values(columns).map((column) => column.data.buffer));
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
