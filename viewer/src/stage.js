// The stage: one canvas with the view of a run, or the views of compared runs side by side, the guide and
// when pictures are drawn.
import { drawGuide } from './guide.js';
import { SHARE } from './effects.js';

const STILL = [400, 120]; // ms without a change after which a picture of level 0, 1 is drawn

export class Stage {
  constructor(element, canvas, renderer, eye) {
    Object.assign(this, { element, canvas, renderer, eye, views: [], width: 0, height: 0, ratio: 1, drawn: 0, shown: 0 });
  }
  get first() {
    return this.views[0];
  }
  resize(width = this.element.clientWidth, height = this.element.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2)) {
    if (!(width > 0) || !(height > 0)) return;
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    Object.assign(this, { width, height, ratio });
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.eye.changed = true;
  }
  // The part of the stage that view k has, in points from the top left: side by side, or, on a tall
  // stage, one above the other.
  part(k) {
    const n = this.views.length, wide = this.width >= this.height;
    return wide ? [(k * this.width) / n, 0, this.width / n, this.height] : [0, (k * this.height) / n, this.width, this.height / n];
  }
  // The view under a point of the stage, and the point in it, from -1 to 1.
  at(x, y) {
    for (const [k, view] of this.views.entries()) {
      const [left, top, width, height] = this.part(k);
      if (x >= left && x < left + width && y >= top && y < top + height)
        return { k, view, x: (2 * (x - left)) / width - 1, y: 1 - (2 * (y - top)) / height, width, height };
    }
    return null;
  }
  fit(from) {
    const [, , width, height] = this.part(0);
    this.eye.fit(this.first, width, height, from);
  }
  // Called for every picture of the screen: draw when something has changed. `still`: nothing moves, so
  // there is time for all effects.
  render(now, still, force = false) {
    const { views, eye } = this;
    const changed = eye.changed || views.some((view) => view.needed), { effects } = this.first;
    if (changed) this.changed = now;
    // Once nothing moves the picture gets its full resolution soon, and then shadows, so that one can go on without
    // having to wait for these.
    const finer = this.shown > 1 ? 1 : 0, refine = !changed && still && this.shown > 0 && now - this.changed > STILL[finer];
    // How long the last picture took: the browser asks for the next when it is done.
    if (this.paced && !force) effects.count(now - this.asked);
    this.asked = now;
    this.paced = changed && !force;
    if (!changed && !refine && !force) return false;
    const level = force ? 0 : refine ? finer : effects.level;
    this.shown = level;
    eye.keepUp(this.first);
    eye.changed = false;
    const ratio = this.ratio * SHARE[level];
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    for (const [k, view] of views.entries()) {
      const [x, y, width, height] = this.part(k);
      eye.setFrustum(view, width, height);
      // The canvas is counted from below.
      const lower = this.height - y - height;
      this.renderer.setScissor(x, lower, width, height);
      this.renderer.setScissorTest(views.length > 1);
      view.render([x, lower, width, height].map((v) => Math.round(v * ratio)), level);
    }
    this.onView?.();
    ++this.drawn;
    return true;
  }
  drawGuide(svg) {
    drawGuide(svg, this.first, this.part(0)[3]);
  }
}
