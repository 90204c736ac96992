"""Measurements of the service beside plain Django, on stores of their own.

`script/bench` runs them. Contenders go in turn, round after round (A B C A B C …);
a ratio is taken round by round, so that noise of the machine hits both its sides.
Nothing here speaks to anything but 127.0.0.1.
"""
