"""What the pages of workstations say: facts once, then words; beside the presenters that jobs and workstations share."""
