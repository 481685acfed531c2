"""What the forms of the administration post."""


def inlines(prefix, total=0, initial=0, **rows):
    """What it posts beside the fields of its model."""
    return {f"{prefix}-TOTAL_FORMS": total, f"{prefix}-INITIAL_FORMS": initial, f"{prefix}-MIN_NUM_FORMS": 0, f"{prefix}-MAX_NUM_FORMS": 1000, **rows}


def user_form(user, **more):
    return {"username": user.username, "first_name": "", "last_name": "", "email": "", "is_active": "on", **inlines("memberships"), **more}
