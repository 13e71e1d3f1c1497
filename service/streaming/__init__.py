"""What is done while somebody speaks, and when? Pure: what was heard and what work came back go in, what to do comes out."""
