"""The parser of Korean texts.

tokenizer.py masks what it understands, classifier.py decides whether the text is a
payment, parser.py combines both and builds the candidate.
"""
