"""Who wrote a value?"""
