// What makes bodies stand on the ground: a shadow map from the key light, and passes over the finished
// picture that darken corners (ambient occlusion) and draw edges, both from its depths. In the plane
// there are none of these. Where pictures come slower than they should while something moves, less is drawn
// until all is still, by levels: 0 everything, 1 neither shadows nor occlusion nor smooth edges, 2 so in half
// of the resolution, 3 in a third.
import * as THREE from 'three';
import * as shader from './shaders.js';

const MAP = 2048; // texels of the shadow map along a side
export const SHARE = [1, 1, 0.5, 0.34]; // of the resolution, by level
const EDGES = 0.45; // how dark
const SLOW = 45; // ms from picture to picture, above which less is drawn
const QUICK = 24; // below which more is tried
const PATIENCE = 40; // pictures, before it is tried; doubled each time it was too much
const MANY = 20000; // bodies with which the first picture is drawn without effects

function pass(fragmentShader, uniforms) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3, vertexShader: shader.screenVertex, fragmentShader, uniforms,
    depthTest: false, depthWrite: false, blending: THREE.NoBlending,
  });
}

// Whether the processor draws: then bodies that others hide are left out even of good pictures. A graphics card has
// drawn them before that is found out.
export function isSoftware(renderer) {
  const gl = renderer.getContext(), names = gl.getExtension('WEBGL_debug_renderer_info');
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
}

export class Effects {
  constructor(renderer, bodies) {
    this.renderer = renderer;
    this.level = bodies > MANY ? 1 : 0;
    Object.assign(this, { wait: PATIENCE, quick: 0, mapSize: MAP });
    this.light = new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1);
    // A map without shadows, for the map's own drawing, and in the plane.
    this.none = this.makeMap(1);
    renderer.setRenderTarget(this.none);
    renderer.clear();
    renderer.setRenderTarget(null);
    this.uniforms = {
      uShadow: { value: this.none.depthTexture }, uShadowMatrix: { value: new THREE.Matrix4() }, uShadowSize: { value: new THREE.Vector3() },
      uLight: { value: new THREE.Vector3(0.35, 0.75, 0.6).normalize() }, uUp: { value: new THREE.Vector3(0, 0, 1) },
    };
    this.pace = 0; // ms from picture to picture, averaged
    this.map = null;
    this.screens = null;
  }
  // The light comes from above, from the left and the front of the first view.
  aim(up, front, side, middle, radius) {
    const towards = up.clone().addScaledVector(front, 0.5).addScaledVector(side, -0.55).normalize();
    this.uniforms.uLight.value.copy(towards);
    this.uniforms.uUp.value.copy(up);
    const r = 1.1 * radius;
    Object.assign(this.light, { left: -r, right: r, top: r, bottom: -r, near: 0, far: 4 * r });
    this.light.up.copy(Math.abs(towards.dot(up)) < 0.95 ? up : front);
    this.light.position.copy(middle).addScaledVector(towards, 2 * r);
    this.light.lookAt(middle);
    this.light.updateMatrixWorld();
    this.light.updateProjectionMatrix();
    this.uniforms.uShadowMatrix.value.makeScale(0.5, 0.5, 0.5).setPosition(0.5, 0.5, 0.5)
      .multiply(this.light.projectionMatrix).multiply(this.light.matrixWorldInverse);
    this.texel = (2 * r) / MAP;
  }
  makeMap(size) {
    const depthTexture = new THREE.DepthTexture(size, size, THREE.UnsignedIntType);
    depthTexture.compareFunction = THREE.LessEqualCompare;
    depthTexture.minFilter = depthTexture.magFilter = THREE.LinearFilter;
    return new THREE.WebGLRenderTarget(size, size, { depthTexture });
  }
  castShadows(scene, hidden) {
    const { renderer, uniforms } = this;
    this.map ||= this.makeMap(MAP);
    uniforms.uShadow.value = this.none.depthTexture;
    uniforms.uShadowSize.value.x = 0;
    const seen = hidden.filter((mesh) => mesh.visible);
    for (const mesh of seen) mesh.visible = false;
    renderer.setRenderTarget(this.map);
    renderer.clear();
    renderer.render(scene, this.light);
    renderer.setRenderTarget(null);
    for (const mesh of seen) mesh.visible = true;
    uniforms.uShadow.value = this.map.depthTexture;
    uniforms.uShadowSize.value.set(1, 1 / MAP, this.texel);
  }

  // What pictures are drawn into: colours, signs of bodies, depths.
  makeTarget(samples) {
    const target = new THREE.WebGLRenderTarget(1, 1, { samples, count: 2, depthTexture: new THREE.DepthTexture(1, 1, THREE.UnsignedIntType) });
    target.textures[1].minFilter = target.textures[1].magFilter = THREE.NearestFilter;
    return target;
  }
  makeScreen() {
    this.screens = [this.makeTarget(4), this.makeTarget(0)]; // of level 0, and of the others
    this.sky = new THREE.WebGLRenderTarget(1, 1, { depthBuffer: false, format: THREE.RedFormat });
    const common = { uDepth: { value: null }, uLens: { value: new THREE.Vector4() }, uPixel: { value: new THREE.Vector2() } };
    this.common = common;
    this.occlusion = pass(shader.occlusionFragment, { ...common, uRadius: { value: 1 } });
    this.finish = pass(shader.finishFragment, {
      ...common, uPicture: { value: null }, uSign: { value: null }, uSky: { value: this.sky.texture }, uShaded: { value: true }, uEdges: { value: EDGES },
    });
    this.square = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.finish);
    this.square.frustumCulled = false;
    this.stage = new THREE.Scene();
    this.stage.add(this.square);
    this.flatCamera = new THREE.Camera();
  }
  // Draw the scene into the rectangle [x, y, width, height] of the canvas, in pixels, at a level; occlusion
  // of about `radius`.
  draw(scene, camera, [x, y, width, height], radius, level) {
    const { renderer } = this, fine = level === 0;
    if (!this.screens) this.makeScreen();
    const screen = this.screens[fine ? 0 : 1], w = width, h = height;
    const { uDepth, uLens, uPixel } = this.common;
    if (screen.width !== w || screen.height !== h) screen.setSize(w, h);
    uDepth.value = screen.depthTexture;
    uPixel.value.set(1 / w, 1 / h);
    uLens.value.set(camera.near, camera.far, Math.tan((camera.fov * Math.PI) / 360) / camera.zoom, camera.aspect);
    renderer.setRenderTarget(screen);
    renderer.clear();
    renderer.render(scene, camera);
    if (fine) {
      const half = [Math.ceil(w / 2), Math.ceil(h / 2)];
      if (this.sky.width !== half[0] || this.sky.height !== half[1]) this.sky.setSize(...half);
      this.occlusion.uniforms.uRadius.value = radius;
      this.square.material = this.occlusion;
      renderer.setRenderTarget(this.sky);
      renderer.render(this.stage, this.flatCamera);
    }
    const { uPicture, uSign, uShaded, uEdges } = this.finish.uniforms;
    [uPicture.value, uSign.value] = screen.textures;
    uShaded.value = fine;
    uEdges.value = EDGES * SHARE[level]; // as wide as a pixel
    this.square.material = this.finish;
    renderer.setRenderTarget(null);
    const ratio = renderer.getPixelRatio();
    renderer.setViewport(x / ratio, y / ratio, width / ratio, height / ratio);
    renderer.render(this.stage, this.flatCamera);
  }
  // A picture followed the last one after so many ms: draw less or more from now on.
  count(passed) {
    this.pace += (passed > this.pace ? 0.4 : 0.15) * (Math.min(passed, 1000) - this.pace);
    this.quick = this.pace < QUICK ? this.quick + 1 : 0;
    if (this.pace > SLOW && this.level < SHARE.length - 1) {
      if (this.raised) this.wait *= 2; // more was tried, and was too much
      this.raised = false;
      // Far too slow: two levels at once.
      this.level = Math.min(this.level + (this.pace > 4 * SLOW ? 2 : 1), SHARE.length - 1);
      this.pace = 0.5 * SLOW;
      this.quick = 0;
    } else if (this.quick >= this.wait && this.level > 0) {
      --this.level;
      this.quick = 0;
      this.raised = true;
    }
  }
  dispose() {
    for (const part of [this.none, this.map, ...(this.screens || []), this.sky, this.occlusion, this.finish]) part?.dispose();
  }
}
