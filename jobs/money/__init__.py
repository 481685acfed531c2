"""How money is held, charged and given back: the rooms behind jobs/ledger.py, which is their door.

`books` moves what clusters cost, `disks` what homes of suspended workstations cost; `paying` says which budgets must pay for a
start, `succession` which ones pay for what runs; `granting` is what people and the calendar do to a budget, `periods` its
calendar, `notices` its mails. Who wants money moved asks the ledger.
"""
