"""Sentences of the product, by name: the one place in which tests spell them out.

A test names the message that it expects and fills in the place, what was found and what is allowed:
``messages.NOT_A_NUMBER.format(place="a.csv, line 2, column 3", found="“x”")``. Where a message is
reworded, this file changes and no test does.
"""
