"""What is the machine code made of?"""
