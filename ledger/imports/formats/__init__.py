"""The formats of files, read in the process of `ledger.imports.file_reader`.

The modules need neither Django nor a database. Each takes bytes or a text and returns
tables of cells, or raises `InvalidFileError` with a name that
`ledger.imports.reading` words.
"""
