"""Which test fails, and where did the wrong value come from?"""
