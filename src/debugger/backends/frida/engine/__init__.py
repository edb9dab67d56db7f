"""How is a live program stopped, watched and traced from inside, by address?"""
