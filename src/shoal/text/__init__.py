"""Texts as words: the splitter, TF-IDF, stop words and a corpus's own word vectors."""
