class Frame: pass
class Run: pass
def read(): pass
def run(): pass
