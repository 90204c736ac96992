"""The parser of Korean texts.

tokenizer.py finds the parts of a message, classifier.py decides, parser.py builds the
candidate.
"""
