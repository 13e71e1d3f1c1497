"""What do people say that is worth remembering? Turns in, self-contained statements with their evidence out; by rules.

They lean on a parser, so today on English: turns in another language give no facts without a language model. Measured on 255
turns labelled by hand (tests/unit/memory/facts): of the held-out half's 104 facts 91 % are right, 89 % of 97 are found.
"""
