"""What is traced, and how a call and its return are told?"""
