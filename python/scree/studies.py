def study(): pass
