// What makes bodies stand on the ground: a shadow map from the key light, and passes over the finished
// picture that darken corners (ambient occlusion) and draw edges, both from its depths. In the plane
// there are none of these. Where pictures come slower than they should while something moves, shadows and
// occlusion wait until all is still.
import * as THREE from 'three';
import * as shader from './shaders.js';

const MAP = 2048; // texels of the shadow map along a side
const SLOW = 45; // ms from picture to picture, above which shadows and occlusion wait

function pass(fragmentShader, uniforms) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3, vertexShader: shader.screenVertex, fragmentShader, uniforms,
    depthTest: false, depthWrite: false, blending: THREE.NoBlending,
  });
}

export class Effects {
  constructor(renderer) {
    this.renderer = renderer;
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
    this.screen = null;
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

  makeScreen() {
    const depth = new THREE.DepthTexture(1, 1, THREE.UnsignedIntType);
    this.screen = new THREE.WebGLRenderTarget(1, 1, { samples: 4, depthTexture: depth });
    this.sky = new THREE.WebGLRenderTarget(1, 1, { depthBuffer: false, format: THREE.RedFormat });
    const common = { uDepth: { value: depth }, uLens: { value: new THREE.Vector4() }, uPixel: { value: new THREE.Vector2() } };
    this.lens = common.uLens.value;
    this.pixel = common.uPixel.value;
    this.occlusion = pass(shader.occlusionFragment, { ...common, uRadius: { value: 1 } });
    this.finish = pass(shader.finishFragment, {
      ...common, uPicture: { value: this.screen.texture }, uSky: { value: this.sky.texture }, uShaded: { value: true }, uEdges: { value: 0.45 },
    });
    this.square = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.finish);
    this.square.frustumCulled = false;
    this.stage = new THREE.Scene();
    this.stage.add(this.square);
    this.flatCamera = new THREE.Camera();
  }
  // Draw the scene into the rectangle [x, y, width, height] of the canvas, in pixels. `fine`: with
  // occlusion, of about `radius`.
  draw(scene, camera, [x, y, width, height], radius, fine) {
    const { renderer } = this;
    if (!this.screen) this.makeScreen();
    if (this.screen.width !== width || this.screen.height !== height) {
      this.screen.setSize(width, height);
      this.sky.setSize(Math.ceil(width / 2), Math.ceil(height / 2));
      this.pixel.set(1 / width, 1 / height);
    }
    this.lens.set(camera.near, camera.far, Math.tan((camera.fov * Math.PI) / 360) / camera.zoom, camera.aspect);
    renderer.setRenderTarget(this.screen);
    renderer.clear();
    renderer.render(scene, camera);
    if (fine) {
      this.occlusion.uniforms.uRadius.value = radius;
      this.square.material = this.occlusion;
      renderer.setRenderTarget(this.sky);
      renderer.render(this.stage, this.flatCamera);
    }
    this.finish.uniforms.uShaded.value = fine;
    this.square.material = this.finish;
    renderer.setRenderTarget(null);
    const ratio = renderer.getPixelRatio();
    renderer.setViewport(x / ratio, y / ratio, width / ratio, height / ratio);
    renderer.render(this.stage, this.flatCamera);
  }
  // The pace of pictures that follow each other at once.
  count(now) {
    const passed = now - (this.last ?? -1e9);
    this.last = now;
    if (passed < 250) this.pace += 0.2 * (passed - this.pace);
  }
  dispose() {
    for (const part of [this.none, this.map, this.screen, this.sky, this.occlusion, this.finish]) part?.dispose();
  }
  get slow() {
    return this.pace > SLOW;
  }
}
