"""What a summary says in other words than its source, or does not have from it; no encoder is needed, and
importing it loads no torch.

`text` is what a text shows, and all else reads that; `words` cuts a text into words and finds the runs that a summary copies; `tokens` keeps words and numbers
as they are written; `numbers` and `names` read them; `english` has what is known of the language; `source`
prepares a source once for all of its summaries.
"""
