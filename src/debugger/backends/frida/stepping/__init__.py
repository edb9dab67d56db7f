"""Where does a step of one thread end: planned from code and frames, kept by breakpoints?"""
