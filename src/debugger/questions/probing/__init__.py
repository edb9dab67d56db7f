"""Which values have expressions at places of a run, each time that the program comes there?"""
