// Straight beams between points, each with a colour and a thickness: force chains, normals, coins of
// contacts. Their arrays grow and are used again, frame after frame.
import * as THREE from 'three';
import { beam } from './shapes.js';

export class Beams {
  constructor(material, order) {
    const base = beam(8), geometry = new THREE.InstancedBufferGeometry();
    geometry.index = base.index;
    for (const [name, attribute] of Object.entries(base.attributes)) geometry.setAttribute(name, attribute);
    geometry.instanceCount = 0;
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
    this.mesh.visible = false; // its shader is compiled when there is something to draw
    this.capacity = 0;
    this.count = 0;
  }
  // Clear, and reserve room for `most` beams.
  begin(most) {
    this.count = 0;
    if (most <= this.capacity) return;
    this.capacity = Math.ceil(1.3 * most) + 16;
    const { geometry } = this.mesh;
    geometry.dispose(); // free the memory of the old arrays on the graphics card
    for (const [name, width] of [['aFrom', 3], ['aTo', 3], ['aTint', 4]]) {
      this[name] = new Float32Array(width * this.capacity);
      geometry.setAttribute(name, new THREE.InstancedBufferAttribute(this[name], width).setUsage(THREE.DynamicDrawUsage));
    }
  }
  add(fx, fy, fz, tx, ty, tz, red, green, blue, thickness) {
    const { aFrom, aTo, aTint } = this, k = this.count++;
    aFrom[3 * k] = fx, aFrom[3 * k + 1] = fy, aFrom[3 * k + 2] = fz;
    aTo[3 * k] = tx, aTo[3 * k + 1] = ty, aTo[3 * k + 2] = tz;
    aTint[4 * k] = red, aTint[4 * k + 1] = green, aTint[4 * k + 2] = blue, aTint[4 * k + 3] = thickness;
  }
  end() {
    const { geometry } = this.mesh;
    geometry.instanceCount = this.count;
    this.mesh.visible = this.count > 0;
    for (const name of this.count ? ['aFrom', 'aTo', 'aTint'] : []) {
      const attribute = geometry.attributes[name];
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, attribute.itemSize * this.count);
      attribute.needsUpdate = true;
    }
  }
}
