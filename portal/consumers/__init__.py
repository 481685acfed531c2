"""Websockets: status of a job, rows of the list, live output, health. One file each, on the base in socket.py."""
