"""What `manage.py up` does: check, prepare, start children, keep them alive, end them."""


class Refusal(Exception):
    """Why `up` does not start: one clear line for people, raised before anything is started."""
