// Shaders. The state of all bodies is in three textures with a texel per body: place (and whether
// the body is shown), orientation, colour. Every batch of shapes looks its bodies up there, so a new
// frame is three uploads, whatever the shapes are.

const COMMON = /* glsl */ `
precision highp float;
precision highp int;
uniform sampler2D uPlace, uTurn, uColour;
uniform int uWidth, uSelected;
uniform vec4 uSlice; // bodies with dot(place, xyz) > w are hidden; xyz = 0: off
vec3 rotate(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
ivec2 texel(float body) { int b = int(body + 0.5); return ivec2(b % uWidth, b / uWidth); }
bool hidden(vec4 place) { return place.w < 0.5 || (dot(uSlice.xyz, uSlice.xyz) > 0.0 && dot(place.xyz, uSlice.xyz) > uSlice.w); }
vec4 bodyColour(float body) {
  vec4 c = texelFetch(uColour, texel(body), 0);
  if (int(body + 0.5) == uSelected) c.rgb = mix(c.rgb, vec3(1.0, 0.25, 0.15), 0.75);
  return c;
}
`;

const LIGHT = /* glsl */ `
vec3 light(vec3 colour, vec3 normal, vec3 toEye) {
  vec3 key = normalize(vec3(0.35, 0.75, 0.6));
  float diffuse = 0.5 + 0.5 * dot(normal, key);
  float gloss = pow(max(dot(reflect(-key, normal), toEye), 0.0), 24.0);
  float rim = 1.0 - 0.35 * pow(1.0 - max(dot(normal, toEye), 0.0), 3.0);
  return (colour * (0.5 + 0.62 * diffuse * diffuse) + 0.12 * gloss) * rim;
}
`;

// Triangles: instanced (ellipsoid, box, capsule, with their size per body) or merged (polygons,
// triangles of any body, obstacles, with a body per vertex). aEnd moves the two halves of a capsule apart.
export const meshVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
in float aEnd;
in vec2 aGrid;
out vec3 vNormal, vEye;
out vec4 vColour;
out vec2 vGrid;
void main() {
  vec4 place = texelFetch(uPlace, texel(aBody), 0), turn = texelFetch(uTurn, texel(aBody), 0);
  vec3 local = position * aSize.xyz + vec3(0.0, 0.0, aEnd * aSize.w);
  vec4 eye = viewMatrix * vec4(place.xyz + rotate(turn, local), 1.0);
  vNormal = mat3(viewMatrix) * rotate(turn, normal / max(aSize.xyz, vec3(1e-12)));
  vEye = eye.xyz;
  vColour = bodyColour(aBody);
  vGrid = aGrid;
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * eye;
}`;

export const meshFragment = /* glsl */ `
precision highp float;
uniform float uOpacity, uFade; // uFade: cells of the grid from the middle to where nothing is left
uniform bool uFlat, uGridded, uFacets;
in vec3 vNormal, vEye;
in vec4 vColour;
in vec2 vGrid;
out vec4 outColour;
${LIGHT}
void main() {
  vec3 colour = vColour.rgb;
  if (uGridded) {
    vec2 width = fwidth(vGrid) * 1.2, line = abs(fract(vGrid - 0.5) - 0.5);
    float mark = max(1.0 - smoothstep(width.x * 0.5, width.x, line.x), 1.0 - smoothstep(width.y * 0.5, width.y, line.y));
    colour *= 1.0 - 0.22 * mark * clamp(0.5 / max(width.x, width.y), 0.0, 1.0);
  }
  // Bodies given by triangles: each is flat, and its normal is that of what is seen of it.
  vec3 normal = normalize(uFacets ? cross(dFdx(vEye), dFdy(vEye)) : vNormal);
  if (!uFacets && !gl_FrontFacing) normal = -normal;
  float cover = uFade > 0.0 ? 1.0 - smoothstep(0.35, 1.0, length(vGrid) / uFade) : 1.0;
  outColour = vec4(uFlat ? colour : light(colour, normal, normalize(-vEye)), uOpacity * cover);
}`;

// Spheres: a square towards the eye that covers the outline; each point of it is cast on the ball.
// Round at any distance, and two triangles per body. The depth is the square's: of two bodies that do
// not overlap, the one whose chord along a ray has the nearer middle is wholly nearer on that ray, and
// the middles lie in the square. Not writing depths lets the card drop hidden points early.
export const sphereVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
out vec3 vEye, vCentre;
out vec4 vColour, vTurn;
out float vRadius;
void main() {
  vec4 place = texelFetch(uPlace, texel(aBody), 0);
  vec3 centre = (viewMatrix * vec4(place.xyz, 1.0)).xyz;
  float far = length(centre), radius = aSize.x;
  vec3 axis = centre / max(far, 1e-9);
  vec3 side = normalize(cross(axis, abs(axis.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  float reach = radius * far / sqrt(max(far * far - radius * radius, 1e-4 * far * far));
  vEye = centre + reach * (position.x * side + position.y * cross(side, axis));
  vCentre = centre;
  vRadius = radius;
  vColour = bodyColour(aBody);
  vec4 turn = texelFetch(uTurn, texel(aBody), 0);
  vTurn = turn;
  gl_Position = hidden(place) ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * vec4(vEye, 1.0);
}`;

export const sphereFragment = /* glsl */ `
precision highp float;
uniform float uOpacity, uMark;
in vec3 vEye, vCentre;
in vec4 vColour, vTurn;
in float vRadius;
out vec4 outColour;
${LIGHT}
void main() {
  vec3 ray = normalize(vEye);
  float along = dot(ray, vCentre);
  vec3 off = vCentre - along * ray; // from the ray's nearest point to the centre: no cancellation
  float inside = vRadius * vRadius - dot(off, off);
  float edge = inside / (vRadius * vRadius), soft = max(fwidth(edge), 1e-5);
  float cover = clamp(edge / soft + 0.5, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 hit = (along - sqrt(max(inside, 0.0))) * ray;
  vec3 normal = (hit - vCentre) / vRadius;
  vec3 world = transpose(mat3(viewMatrix)) * normal;
  vec3 own = world + 2.0 * cross(-vTurn.xyz, cross(-vTurn.xyz, world) + vTurn.w * world);
  // A darker belt shows how the ball turns.
  float belt = 1.0 - smoothstep(0.14, 0.14 + max(fwidth(own.x), 1e-4), abs(own.x));
  vec3 colour = vColour.rgb * (1.0 - uMark * 0.35 * belt);
  outColour = vec4(light(colour, normal, -ray), uOpacity * cover);
}`;

// Round shapes of the plane: disks, ellipses, rounded segments. aSize = semi-axes, half length.
export const diskVertex = /* glsl */ `${COMMON}
in float aBody;
in vec4 aSize;
out vec2 vLocal;
out vec4 vSize, vColour;
void main() {
  vec4 place = texelFetch(uPlace, texel(aBody), 0), turn = texelFetch(uTurn, texel(aBody), 0);
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
out vec4 outColour;
${LIGHT}
void main() { outColour = vec4(uFlat ? vTint : light(vTint, normalize(vNormal), normalize(-vEye)), 1.0); }`;

// Soft shadows of bodies on a floor: a disc under each body, darker and smaller the nearer it is.
export const shadowVertex = /* glsl */ `${COMMON}
uniform vec4 uPlane; // unit normal, offset: dot(normal, x) = offset on the floor
in float aBody;
in vec4 aSize;
out vec2 vDisc;
out float vStrength;
void main() {
  vec4 place = texelFetch(uPlace, texel(aBody), 0);
  float height = dot(uPlane.xyz, place.xyz) - uPlane.w, radius = aSize.x;
  float away = max(height / radius - 1.0, 0.0);
  vec3 side = normalize(cross(uPlane.xyz, abs(uPlane.x) < 0.9 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0)));
  float reach = radius * (1.35 + 0.5 * min(away, 4.0));
  vec3 at = place.xyz - uPlane.xyz * (height - 0.01 * radius) + reach * (position.x * side + position.y * cross(uPlane.xyz, side));
  vDisc = position.xy;
  vStrength = 0.5 / (1.0 + away * away);
  gl_Position = hidden(place) || height < 0.0 || away > 6.0 ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * viewMatrix * vec4(at, 1.0);
}`;

export const shadowFragment = /* glsl */ `
precision highp float;
uniform float uOpacity;
in vec2 vDisc;
in float vStrength;
out vec4 outColour;
void main() {
  float r = length(vDisc);
  if (r > 1.0) discard;
  outColour = vec4(0.0, 0.0, 0.0, uOpacity * vStrength * (1.0 - smoothstep(0.25, 1.0, r)));
}`;
