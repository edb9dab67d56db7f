"""Why does a program hang?"""
