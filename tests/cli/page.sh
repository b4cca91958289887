#!/usr/bin/env bash
# viewer/dist/page.html was built from the sources beside it: the sum of their sums is in the page.
set -euo pipefail
cd "${SCREE_SOURCE:?}/viewer"
sum="$(for file in build.mjs package-lock.json package.json src/*; do
  sha256sum "$file" | cut -d' ' -f1
done | sha256sum | cut -d' ' -f1)"
if ! grep -q "name=\"scree-sources\" content=\"$sum\"" dist/page.html; then
  echo "page: viewer/dist/page.html is older than its sources: npm ci && npm run build in viewer/"
  exit 1
fi
echo "page: built from these sources"
