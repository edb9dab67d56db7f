"""How Node records itself: V8 counts how often each part of each function ran."""
