"""Texts to vectors, one file per part; nothing is imported here, so that one part does not load all the others.

``representation.py`` is the entry: every way from texts to vectors by name. Below it are transformers
(``backbone``, ``tokens``, ``token_states``, ``transformer``, ``last_layers``), words (``word_counts``,
``word_statistics``, ``word_vectors``, ``sif``), encoders that come in packages (``packaged``) and the ``vector_cache``.
For training: ``decoder``, ``noise``, ``masking``, ``masked_head``, ``latent``, ``auto_encoder``.
"""
