// Bullet. "default": stepSimulation's step of 1/60 s, 10 iterations, split impulses and warm
// starting, as its examples do; all other parameters are the library's. "accurate": what its manual
// recommends when stacks must stand: steps of 1/240 s and 50 iterations, two directions of friction
// (the pyramid instead of one direction). Sleeping is off in both: a body that is not moved has no
// error to measure.
#include "bench/engines/engine.h"

#include <btBulletDynamicsCommon.h>

#include <cstdio>
#include <vector>

namespace {

struct Bullet {
  const Scene *scene;
  double h;
  btDefaultCollisionConfiguration *configuration;
  btCollisionDispatcher *dispatcher;
  btDbvtBroadphase *broad;
  btSequentialImpulseConstraintSolver *solver;
  btDiscreteDynamicsWorld *world;
  std::vector<btCollisionShape *> shapes;
  std::vector<btRigidBody *> bodies;
};

btVector3 vector_of(scree_Vec3 v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }

scree_Vec3 vec3_of(const btVector3 &v) {
  return scree_Vec3{double(v.x()), double(v.y()), double(v.z())};
}

btCollisionShape *new_shape(const Scene *scene, const Body *body) {
  switch (body->kind) {
  case BODY_SPHERE: return new btSphereShape(btScalar(body->radius));
  case BODY_BOX: return new btBoxShape(vector_of(body->semi));
  case BODY_CAPSULE:
    return new btCapsuleShapeX(btScalar(body->radius), btScalar(2 * body->half_length));
  case BODY_HALF_SPACE: break;
  }
  return new btStaticPlaneShape(scene->planar ? btVector3(0, 1, 0) : btVector3(0, 0, 1), 0);
}

void add_body(Bullet *s, const Body *body, int k) {
  btCollisionShape *shape = new_shape(s->scene, body);
  const scree_Quat o = body->pose.orientation;
  const btTransform start(btQuaternion(btScalar(o.x), btScalar(o.y), btScalar(o.z), btScalar(o.w)),
                          vector_of(body->pose.position));
  btRigidBody::btRigidBodyConstructionInfo info(btScalar(body->mass), nullptr, shape,
                                                vector_of(body->inertia));
  info.m_startWorldTransform = start;
  info.m_friction = btScalar(std::sqrt(s->scene->mu)); // of a pair: the product
  btRigidBody *rigid = new btRigidBody(info);
  rigid->setUserIndex(k);
  rigid->setActivationState(DISABLE_DEACTIVATION);
  rigid->setLinearVelocity(vector_of(body->velocity.linear));
  rigid->setAngularVelocity(vector_of(body->velocity.angular));
  if (s->scene->planar && body->mass > 0) {
    rigid->setLinearFactor(btVector3(1, 1, 0));
    rigid->setAngularFactor(btVector3(0, 0, 1));
  }
  s->shapes.push_back(shape);
  s->bodies.push_back(rigid);
  s->world->addRigidBody(rigid);
}

void *create(const Scene *scene, const Setting *setting, double *step) {
  Bullet *s = new Bullet{};
  s->scene = scene;
  s->h = *step = setting->step;
  s->configuration = new btDefaultCollisionConfiguration;
  s->dispatcher = new btCollisionDispatcher(s->configuration);
  s->broad = new btDbvtBroadphase;
  s->solver = new btSequentialImpulseConstraintSolver;
  s->world = new btDiscreteDynamicsWorld(s->dispatcher, s->broad, s->solver, s->configuration);
  s->world->setGravity(vector_of(scene->gravity));
  if (setting->level > 0) {
    s->world->getSolverInfo().m_numIterations = 50;
    s->world->getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
  }
  for (int k = 0; k < scene->count; ++k) add_body(s, &scene->bodies[k], k);
  return s;
}

bool step(void *engine) {
  Bullet *s = static_cast<Bullet *>(engine);
  s->world->stepSimulation(btScalar(s->h), 1, btScalar(s->h));
  return true;
}

void state(void *engine, scree_Pose *poses, scree_Twist *velocities) {
  const Bullet *s = static_cast<Bullet *>(engine);
  for (int k = 0; k < s->scene->count; ++k) {
    const btRigidBody *b = s->bodies[size_t(k)];
    const btTransform place = b->getWorldTransform();
    const btQuaternion q = place.getRotation();
    poses[k].position = vec3_of(place.getOrigin());
    poses[k].orientation = scree_Quat{double(q.w()), double(q.x()), double(q.y()), double(q.z())};
    velocities[k].linear = vec3_of(b->getLinearVelocity());
    velocities[k].angular = vec3_of(b->getAngularVelocity());
  }
}

int contacts(void *engine, Touch *touches, int most) {
  const Bullet *s = static_cast<Bullet *>(engine);
  int count = 0;
  for (int m = 0; m < s->dispatcher->getNumManifolds(); ++m) {
    const btPersistentManifold *manifold = s->dispatcher->getManifoldByIndexInternal(m);
    for (int k = 0; k < manifold->getNumContacts() && count < most; ++k) {
      const btManifoldPoint &p = manifold->getContactPoint(k);
      const btVector3 impulse = p.m_normalWorldOnB * p.m_appliedImpulse +
                                p.m_lateralFrictionDir1 * p.m_appliedImpulseLateral1 +
                                p.m_lateralFrictionDir2 * p.m_appliedImpulseLateral2;
      Touch *t = &touches[count++];
      t->body[0] = manifold->getBody0()->getUserIndex();
      t->body[1] = manifold->getBody1()->getUserIndex();
      t->point = vec3_of((p.getPositionWorldOnA() + p.getPositionWorldOnB()) * btScalar(0.5));
      t->normal = vec3_of(p.m_normalWorldOnB);
      t->gap = double(p.getDistance());
      t->impulse = vec3_of(impulse);
    }
  }
  return count;
}

void destroy(void *engine) {
  Bullet *s = static_cast<Bullet *>(engine);
  for (btRigidBody *b : s->bodies) {
    s->world->removeRigidBody(b);
    delete b;
  }
  for (btCollisionShape *shape : s->shapes) delete shape;
  delete s->world;
  delete s->solver;
  delete s->broad;
  delete s->dispatcher;
  delete s->configuration;
  delete s;
}

const char *version(void) {
  static char text[32];
  std::snprintf(text, sizeof text, "%d.%02d", btGetVersion() / 100, btGetVersion() % 100);
  return text;
}

} // namespace

extern "C" const Engine engine_bullet = {
    "Bullet",
    version,
    {{"default", "steps of 1/60 s, 10 iterations", 1.0 / 60, 0},
     {"accurate", "steps of 1/240 s, 50 iterations, friction in two directions", 1.0 / 240, 1}},
    create,
    step,
    state,
    contacts,
    destroy,
    NULL,
};
