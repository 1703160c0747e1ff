"""Files of the operating system and what they limit. Imports nothing compiled, so that the doctor can."""
