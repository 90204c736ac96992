"""`python -m benchmarks.readability [ROOT]`: measure how readable the code is.

Print the longest call chains from a view to the end of its rule, the functions that are
used once, comments and docstrings, and the import graph. The code is parsed, never run,
so no settings are needed. This is a report, not a gate.

A chain counts the functions and methods of the project that are entered, the view's
method being the first. Calls are followed through imports, `self`, inheritance, objects
whose class follows from an annotation or an assignment, and functions passed as
arguments. Lambdas and nested functions belong to the function around them. Not counted
are properties, managers, generated constructors, those of exceptions, serializers and
fields, and what a `Protocol` or a setting stands for. A chain ends with the kernel's
function that it enters, and where a function would be entered again.
"""
