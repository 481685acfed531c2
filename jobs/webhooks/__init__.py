"""Webhooks on their way: signing, which addresses may be called, one careful call, and the turn that sends what is due.

One idea: people are not trusted with addresses. A name is looked up once, every answer is judged, and the connection goes to
exactly the address that was judged. What is to be sent lies in rows (jobs.models.webhook); a turn that dies sends nothing
less, at most the same message twice, under the same id.
"""
