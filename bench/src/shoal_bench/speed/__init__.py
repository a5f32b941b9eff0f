"""The speed suite: ratios to a reference in the same process, and growth with the number of texts.

A ratio says how many times as fast as its reference something is: above 1 it is faster. Both take turns, and the
figure is the median of the turns' ratios, so that a machine that is busy for a while is busy for both. Growth is
measured at several sizes; its exponent is the slope of a straight line through the logarithms, and 1 means in
proportion to the number of texts. Every measure has a process of its own, with its threads pinned.
"""
