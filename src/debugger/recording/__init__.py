"""What did one run of a program do, recorded without stopping it, and what can be said of that?"""
