"""The parser of Korean texts.

tokenizer.py finds the parts of a message, classifier.py decides whether they are a
payment, and parser.py builds the candidate.
"""
