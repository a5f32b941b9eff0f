from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest

from shoal.errors import DataError
from shoal_bench.question_ranking import LISTS, QUESTIONS, SHA256, QuestionRanking

CONTENT = {
    QUESTIONS: "id\ttitle\tbody\nQ1\tred\tcar\nQ1_R1\told\tpiano\nQ1_R2\tred\tvan\nQ2\tdrum\tset\nQ2_R1\tnew\tdrum\n",
    "dev.txt": "Q1\tQ1_R2\tQ1_R1 Q1_R2\t0.5 0.4\n",
    "test.txt": "Q2\t\tQ2_R1\t1.0\n",
}


@pytest.fixture
def ranking_folder(tmp_path):
    """Returns a folder with two queries of our own, and their checksums."""
    home = tmp_path / "cqa_qatar"
    home.mkdir()
    for name, content in CONTENT.items():
        data = content.encode()
        (home / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return tmp_path, {name: hashlib.sha256(content.encode()).hexdigest() for name, content in CONTENT.items()}


def test_candidates_are_ranked_by_their_cosine(ranking_folder):
    ranking = QuestionRanking.load(*ranking_folder)
    assert ranking.texts[:3] == ["red car", "old piano", "red van"]
    assert (ranking.queries, [names.tolist() for names in ranking.candidates]) == ([0, 3], [[1, 2], [4]])
    assert [marks.tolist() for marks in ranking.relevant] == [[False, True], [False]]
    vectors = np.array([[2, 0], [9, 1], [5, 0], [0, 1], [1, 0]], dtype=np.float32)  # lengths do not count
    assert ranking.scores(lambda texts: vectors) == (1.0, 1.0)
    turned = vectors * np.array([[1], [1], [-1], [1], [1]], dtype=np.float32)
    assert ranking.scores(lambda texts: turned)[0] == 0.5


def test_other_files_are_refused(ranking_folder, tmp_path):
    assert SHA256.keys() == {QUESTIONS, *LISTS}
    with pytest.raises(DataError, match=r"questions.tsv.gz is not the declared one: the sha256 of its content is"):
        QuestionRanking.load(tmp_path)
    with pytest.raises(DataError, match=r"cannot be read .* set SHOAL_DATA to the folder that holds cqa_qatar"):
        QuestionRanking.load(tmp_path / "nowhere")
