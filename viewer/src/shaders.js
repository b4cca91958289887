// Shaders. The state of all bodies is in textures with a texel per body: places (and whether the body is
// shown) and orientations of two saved frames, between which they are blended here, and colours. Every batch of
// shapes looks its bodies up there, so a new frame is three uploads, whatever the shapes are, and a picture
// between two frames is one number.

const COMMON = /* glsl */ `
precision highp float;
precision highp int;
uniform sampler2D uPlace, uTurn, uPlaceNext, uTurnNext, uColour;
uniform float uBlend;
uniform int uWidth, uSelected;
uniform vec4 uSlice; // bodies with dot(place, xyz) > w are hidden; xyz = 0: off
vec3 rotate(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
ivec2 texel(float body) { int b = int(body + 0.5); return ivec2(b % uWidth, b / uWidth); }
// A body that is removed before the next frame disappears where it is.
vec4 placeOf(float body) {
  ivec2 at = texel(body);
  vec4 a = texelFetch(uPlace, at, 0);
  if (uBlend == 0.0) return a;
  vec4 b = texelFetch(uPlaceNext, at, 0);
  return b.w < 0.5 ? a : vec4(mix(a.xyz, b.xyz, uBlend), a.w);
}
vec4 turnOf(float body) {
  ivec2 at = texel(body);
  vec4 a = texelFetch(uTurn, at, 0);
  if (uBlend == 0.0) return a;
  vec4 b = texelFetch(uTurnNext, at, 0);
  return normalize(mix(a, dot(a, b) < 0.0 ? -b : b, uBlend));
}
bool hidden(vec4 place) { return place.w < 0.5 || (dot(uSlice.xyz, uSlice.xyz) > 0.0 && dot(place.xyz, uSlice.xyz) > uSlice.w); }
// A colour that tells bodies apart: edges are drawn where it changes.
vec3 bodySign(float body) { return fract(vec3(0.7548777, 0.5698403, 0.4301597) * (floor(body + 0.5) + 1.0)); }
vec4 bodyColour(float body) {
  vec4 c = texelFetch(uColour, texel(body), 0);
  if (int(body + 0.5) == uSelected) c.rgb = mix(c.rgb, vec3(1.0, 0.25, 0.15), 0.75);
  return c;
}
`;

// A key light that stays with the scene and throws shadows (effects.js), a sky above, a little gloss.
const LIGHT = /* glsl */ `
uniform mediump sampler2DShadow uShadow;
uniform mat4 uShadowMatrix;
uniform vec3 uLight, uUp; // unit vectors of the world: towards the light, against gravity
uniform vec3 uShadowSize; // 0: no shadows; side of a texel in the map and in the scene
float lit(vec3 eye, vec3 normal) {
  if (uShadowSize.x < 0.5) return 1.0;
  mat3 turn = transpose(mat3(viewMatrix));
  vec3 world = turn * (eye - viewMatrix[3].xyz + 2.0 * uShadowSize.z * normal);
  vec3 p = (uShadowMatrix * vec4(world, 1.0)).xyz;
  if (p.x < 0.0 || p.y < 0.0 || p.z < 0.0 || p.x > 1.0 || p.y > 1.0 || p.z > 1.0) return 1.0;
  float t = 1.6 * uShadowSize.y, sum = 2.0 * texture(uShadow, p);
  sum += texture(uShadow, p + vec3(t, 0.4 * t, 0.0)) + texture(uShadow, p + vec3(-t, -0.4 * t, 0.0));
  sum += texture(uShadow, p + vec3(0.4 * t, -t, 0.0)) + texture(uShadow, p + vec3(-0.4 * t, t, 0.0));
  return sum / 6.0;
}
vec3 light(vec3 colour, vec3 normal, vec3 eye) {
  vec3 key = mat3(viewMatrix) * uLight, toEye = isOrthographic ? vec3(0.0, 0.0, 1.0) : normalize(-eye);
  float wrapped = 0.5 + 0.5 * dot(normal, key), seen = dot(normal, key) > 0.0 ? lit(eye, normal) : 0.0;
  float gloss = seen * pow(max(dot(reflect(-key, normal), toEye), 0.0), 24.0);
  float sky = 0.52 + 0.1 * dot(normal, mat3(viewMatrix) * uUp) + 0.06 * max(dot(normal, toEye), 0.0);
  return colour * (sky + 0.5 * wrapped * wrapped * (0.4 + 0.6 * seen)) + 0.1 * gloss;
}
`;

// Triangles: instanced (ellipsoid, box, capsule, with their size per body) or merged (polygons,
// triangles of any body, obstacles, with a body per vertex). aEnd moves the two halves of a capsule apart.
export const meshVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
in float aEnd;
in vec2 aGrid;
in vec4 aTone; // a colour of this vertex instead of the body's, where w > 0
out vec3 vNormal, vEye;
flat out vec3 vSign;
out vec4 vColour;
out vec2 vGrid;
void main() {
  vec4 place = placeOf(aBody), turn = turnOf(aBody);
  vec3 local = position * aSize.xyz + vec3(0.0, 0.0, aEnd * aSize.w);
  vec4 eye = viewMatrix * vec4(place.xyz + rotate(turn, local), 1.0);
  vNormal = mat3(viewMatrix) * rotate(turn, normal / max(aSize.xyz, vec3(1e-12)));
  vEye = eye.xyz;
  vColour = bodyColour(aBody);
  if (aTone.w > 0.0) vColour.rgb = mix(aTone.rgb, vColour.rgb, int(aBody + 0.5) == uSelected ? 0.4 : 0.0);
  vGrid = aGrid;
  vSign = bodySign(aBody);
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * eye;
}`;

export const meshFragment = /* glsl */ `
precision highp float;
uniform float uOpacity, uFade; // uFade: cells of the grid from the middle to where nothing is left
uniform bool uFlat, uGridded;
in vec3 vNormal, vEye;
flat in vec3 vSign;
in vec4 vColour;
in vec2 vGrid;
layout(location = 0) out vec4 outColour;
layout(location = 1) out vec4 outSign;
${LIGHT}
void main() {
  vec3 colour = vColour.rgb;
  if (uGridded) {
    vec2 width = fwidth(vGrid) * 1.2, line = abs(fract(vGrid - 0.5) - 0.5);
    float mark = max(1.0 - smoothstep(width.x * 0.5, width.x, line.x), 1.0 - smoothstep(width.y * 0.5, width.y, line.y));
    colour *= 1.0 - 0.22 * mark * clamp(0.5 / max(width.x, width.y), 0.0, 1.0);
  }
  vec3 normal = normalize(vNormal);
  if (!gl_FrontFacing) normal = -normal;
  float cover = uFade > 0.0 ? 1.0 - smoothstep(0.35, 1.0, length(vGrid) / uFade) : 1.0;
  outColour = vec4(uFlat ? colour : light(colour, normal, vEye), uOpacity * cover);
  outSign = vec4(vSign, uOpacity * cover);
}`;

// Spheres: a square towards the eye that covers the outline; each point of it is cast on the ball.
// Round at any distance, and two triangles per body.
export const sphereVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
out vec3 vCentre, vAcross;
flat out vec3 vSign;
out vec4 vColour, vTurn;
out float vRadius;
void main() {
  vec4 place = placeOf(aBody);
  vec3 centre = (viewMatrix * vec4(place.xyz, 1.0)).xyz;
  float far = length(centre), radius = aSize.x;
  vec3 axis = isOrthographic ? vec3(0.0, 0.0, -1.0) : centre / max(far, 1e-9);
  vec3 side = normalize(cross(axis, abs(axis.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  float reach = isOrthographic ? radius : radius * far / sqrt(max(far * far - radius * radius, 1e-4 * far * far));
  vAcross = centre + reach * (position.x * side + position.y * cross(side, axis));
  vCentre = centre;
  vRadius = radius;
  vSign = bodySign(aBody);
  vColour = bodyColour(aBody);
  vTurn = turnOf(aBody);
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * vec4(vAcross, 1.0);
}`;

// Spheres as points: a small ball seen from afar appears as a circle round its middle.
export const pointVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
uniform vec2 uScreen; // pixels of the picture
out vec3 vCentre;
flat out vec3 vSign;
out vec4 vColour, vTurn;
out float vRadius;
void main() {
  vec4 place = placeOf(aBody);
  vec4 centre = viewMatrix * vec4(place.xyz, 1.0);
  vCentre = centre.xyz;
  vRadius = aSize.x;
  vSign = bodySign(aBody);
  vColour = bodyColour(aBody);
  vTurn = turnOf(aBody);
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * centre;
  // Away from the middle of the picture the outline is longer, by the angle at which it is seen; and a soft rim.
  gl_PointSize = aSize.x * uScreen.y * projectionMatrix[1][1] * length(centre.xyz) / (centre.z * centre.z) + 1.5;
}`;

// Each point of a square, or of a point, is cast on the ball.
const castBall = (ray) => /* glsl */ `
precision highp float;
uniform mat4 projectionMatrix;
uniform float uOpacity, uMark;
uniform bool uSharp; // rims are not blended: nothing is part of a pixel
uniform vec2 uScreen;
in vec3 vCentre;
flat in vec3 vSign;
in vec4 vColour, vTurn;
in float vRadius;
layout(location = 0) out vec4 outColour;
layout(location = 1) out vec4 outSign;
${LIGHT}
void main() {
  ${ray}
  float along = dot(ray, vCentre - from);
  vec3 off = vCentre - from - along * ray; // from the ray's nearest point to the centre: no cancellation
  float inside = vRadius * vRadius - dot(off, off);
  float edge = inside / (vRadius * vRadius), soft = max(fwidth(edge), 1e-5);
  float cover = clamp(edge / soft + 0.5, 0.0, 1.0);
  if (uSharp && uOpacity == 1.0) cover = step(0.5, cover);
  if (cover <= 0.0) discard;
  vec3 hit = from + (along - sqrt(max(inside, 0.0))) * ray;
  vec4 clip = projectionMatrix * vec4(hit, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 normal = (hit - vCentre) / vRadius;
  vec3 world = transpose(mat3(viewMatrix)) * normal;
  vec3 own = world + 2.0 * cross(-vTurn.xyz, cross(-vTurn.xyz, world) + vTurn.w * world);
  // A darker belt shows how the ball turns.
  float belt = 1.0 - smoothstep(0.14, 0.14 + max(fwidth(own.x), 1e-4), abs(own.x));
  vec3 colour = vColour.rgb * (1.0 - uMark * 0.35 * belt);
  outColour = vec4(light(colour, normal, hit), uOpacity * cover);
  outSign = vec4(vSign, uOpacity * cover);
}`;
// Towards the point of the square.
export const sphereFragment = castBall(`vec3 from = isOrthographic ? vec3(vAcross.xy, 0.0) : vec3(0.0), ray = isOrthographic ? vec3(0.0, 0.0, -1.0) : normalize(vAcross);`)
  .replace('in vec3 vCentre;', 'in vec3 vCentre, vAcross;');
// Towards the pixel; only in perspective.
export const pointFragment = castBall(`
  vec2 at = 2.0 * gl_FragCoord.xy / uScreen - 1.0;
  vec3 from = vec3(0.0), ray = normalize(vec3(at.x / projectionMatrix[0][0], at.y / projectionMatrix[1][1], -1.0));`);

// Round shapes of the plane: disks, ellipses, rounded segments. aSize = semi-axes, half length.
export const diskVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
out vec2 vLocal;
out vec4 vSize, vColour;
void main() {
  vec4 place = placeOf(aBody), turn = turnOf(aBody);
  vLocal = position.xy * (aSize.xy * 1.04 + vec2(aSize.z, 0.0));
  vSize = aSize;
  vColour = bodyColour(aBody);
  vec3 at = place.xyz + rotate(turn, vec3(vLocal, 0.0));
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * viewMatrix * vec4(at, 1.0);
}`;

export const diskFragment = /* glsl */ `
precision highp float;
uniform float uOpacity, uMark;
in vec2 vLocal;
in vec4 vSize, vColour;
out vec4 outColour;
void main() {
  vec2 q = vec2(max(abs(vLocal.x) - vSize.z, 0.0), vLocal.y) / vSize.xy;
  float r = length(q), soft = fwidth(r);
  float cover = 1.0 - smoothstep(1.0 - soft, 1.0, r);
  if (cover <= 0.0) discard;
  float rim = smoothstep(1.0 - 2.5 * soft - 0.03, 1.0 - soft - 0.03, r);
  // A radius shows how the disk turns.
  float spoke = uMark * (1.0 - smoothstep(0.03, 0.03 + soft, abs(q.y))) * step(0.0, vLocal.x) * step(vSize.z, 0.0);
  vec3 colour = vColour.rgb * (1.0 - 0.45 * max(rim, spoke));
  outColour = vec4(colour, uOpacity * cover);
}`;

// Beams between two points: force chains and normals. Instanced unit cylinder along z.
export const beamVertex = /* glsl */ `
in vec3 aFrom, aTo;
in vec4 aTint; // colour, thickness
out vec3 vNormal, vEye, vTint;
void main() {
  vec3 axis = aTo - aFrom;
  float len = max(length(axis), 1e-9);
  axis /= len;
  vec3 side = normalize(cross(axis, abs(axis.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
  vec3 up = cross(axis, side);
  vec3 round = position.x * side + position.y * up;
  vec4 eye = viewMatrix * vec4(aFrom + round * aTint.w + axis * (len * position.z), 1.0);
  vNormal = mat3(viewMatrix) * (normal.x * side + normal.y * up + normal.z * axis);
  vEye = eye.xyz;
  vTint = aTint.rgb;
  gl_Position = projectionMatrix * eye;
}`;

export const beamFragment = /* glsl */ `
precision highp float;
uniform bool uFlat;
in vec3 vNormal, vEye, vTint;
layout(location = 0) out vec4 outColour;
layout(location = 1) out vec4 outSign;
${LIGHT}
void main() {
  outColour = vec4(uFlat ? vTint : light(vTint, normalize(vNormal), vEye), 1.0);
  outSign = vec4(0.0, 0.0, 0.0, 1.0);
}`;

// ---- passes over the finished picture (effects.js) ----
export const screenVertex = /* glsl */ `
out vec2 vAt;
void main() {
  vAt = 0.5 * position.xy + 0.5;
  gl_Position = vec4(position.xy, 0.0, 1.0);
}`;

const DEPTHS = /* glsl */ `
precision highp float;
uniform highp sampler2D uDepth;
uniform vec4 uLens; // near, far, half the height of the picture at depth 1, width over height
uniform vec2 uPixel; // 1 / size of the picture
in vec2 vAt;
float depthAt(vec2 at) {
  float d = texture(uDepth, at).x;
  return uLens.x * uLens.y / (uLens.y - d * (uLens.y - uLens.x));
}
vec3 eyeAt(vec2 at) {
  at = (floor(at / uPixel) + 0.5) * uPixel; // where the depth was taken
  float z = depthAt(at);
  return vec3((2.0 * at - 1.0) * uLens.z * vec2(uLens.w, 1.0) * z, -z);
}
`;

// How much of the sky each point sees: points of the picture within a distance that stand above its
// tangent plane hide some. McGuire et al., The Alchemy screen-space ambient obscurance algorithm, 2011.
export const occlusionFragment = /* glsl */ `${DEPTHS}
uniform float uRadius;
out vec4 outColour;
void main() {
  vec3 p = eyeAt(vAt);
  if (-p.z > 0.98 * uLens.y) { outColour = vec4(1.0); return; }
  vec3 px = eyeAt(vAt + vec2(uPixel.x, 0.0)) - p, mx = p - eyeAt(vAt - vec2(uPixel.x, 0.0));
  vec3 py = eyeAt(vAt + vec2(0.0, uPixel.y)) - p, my = p - eyeAt(vAt - vec2(0.0, uPixel.y));
  vec3 n = normalize(cross(abs(px.z) < abs(mx.z) ? px : mx, abs(py.z) < abs(my.z) ? py : my));
  float reach = min(uRadius / (-p.z * uLens.z * 2.0), 0.12); // in heights of the picture
  float start = 6.2832 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float sum = 0.0;
  for (int k = 0; k < 12; ++k) {
    float r = (float(k) + 0.6) / 12.0, a = start + 2.39996 * float(k);
    vec3 v = eyeAt(vAt + reach * sqrt(r) * vec2(cos(a) / uLens.w, sin(a))) - p;
    float square = dot(v, v), near = max(uRadius * uRadius - square, 0.0);
    sum += near * near * near * max((dot(v, n) - 0.006 * -p.z * uLens.z) / (square + 0.02 * uRadius * uRadius), 0.0);
  }
  float r2 = uRadius * uRadius;
  outColour = vec4(clamp(1.0 - 0.42 * uRadius * sum / (r2 * r2 * r2), 0.25, 1.0));
}`;

// The picture, darker where little of the sky is seen, with lines along edges. In perspective 1 / depth
// is linear over a plane, so its second differences are zero but at creases and outlines; blocks whose faces
// lie in one plane are told apart by their signs.
export const finishFragment = /* glsl */ `${DEPTHS}
uniform sampler2D uPicture, uSky, uSign;
uniform bool uShaded;
uniform float uEdges;
out vec4 outColour;
void main() {
  vec4 colour = texture(uPicture, vAt);
  float z = depthAt(vAt), shade = 1.0;
  if (uShaded) {
    float sum = 0.0, weights = 0.0;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) {
        vec2 at = vAt + (vec2(float(x), float(y)) - 1.5) * 2.0 * uPixel;
        float weight = 1e-4 + max(0.0, 1.0 - 60.0 * abs(depthAt(at) - z) / z);
        sum += weight * texture(uSky, at).x;
        weights += weight;
      }
    shade = sum / weights;
  }
  float here = 1.0 / z, pixel = 2.0 * uLens.z * uPixel.y * z;
  vec2 dx = vec2(uPixel.x, 0.0), dy = vec2(0.0, uPixel.y);
  float bend = abs(1.0 / depthAt(vAt + dx) + 1.0 / depthAt(vAt - dx) - 2.0 * here) + abs(1.0 / depthAt(vAt + dy) + 1.0 / depthAt(vAt - dy) - 2.0 * here);
  // Outside of the picture there are no depths.
  vec2 inner = step(1.5 * uPixel, vAt) * step(vAt, 1.0 - 1.5 * uPixel);
  vec3 turn = abs(texture(uSign, vAt + dx).rgb - texture(uSign, vAt - dx).rgb) + abs(texture(uSign, vAt + dy).rgb - texture(uSign, vAt - dy).rgb);
  float seam = smoothstep(0.02, 0.12, max(turn.r, max(turn.g, turn.b)));
  float edge = inner.x * inner.y * max(smoothstep(1.3, 4.0, bend * z * z / pixel), 0.8 * seam);
  outColour = vec4(colour.rgb * shade * (1.0 - uEdges * edge), colour.a);
}`;
