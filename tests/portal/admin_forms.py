"""What the forms of the administration post beside the fields of their model."""


def inlines(prefix, total=0, initial=0, **rows):
    return {f"{prefix}-TOTAL_FORMS": total, f"{prefix}-INITIAL_FORMS": initial, f"{prefix}-MIN_NUM_FORMS": 0, f"{prefix}-MAX_NUM_FORMS": 1000, **rows}
