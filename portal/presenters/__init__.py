"""What the templates show, as plain values computed from facts.

One idea: a template never asks what a status means. A presenter turns the rows of a workload (portal/presenters/facts.py)
into words, tones and times; the same values serve the page, the htmx answer and the push over the socket.
"""
