"""A suite's file: whatever is wrong in it is said in a sentence with the file, before anything is run."""

from __future__ import annotations

import pytest

from shoal.errors import ParameterError
from shoal_bench.suite import load_suite

HEAD = 'title = "t"\nsource = "s"\ndata_sets = ["tweet"]\n'
NOTHING = '[[rows]]\nname = "A"\n'
BOW = NOTHING + 'method = "bow-kmeans"\n'
PEER = NOTHING + 'peer = "bertopic"\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("title =", "is not valid TOML"),
        (BOW, "a suite has no 'title'"),
        (HEAD, "a suite has no 'rows'"),
        (HEAD + "rows = []", "a suite has no 'rows'"),
        (HEAD + "colour = 1\n" + BOW, "a suite has the key 'colour'; the keys are title"),
        (HEAD + "name = 'n'\n" + BOW, "a suite has name = 'n'; it should have at most 0 characters"),
        (HEAD + "rows = 'x'", "a suite has rows = 'x'; it must be a list"),
        (HEAD + "rows = ['x']", "row 1 has .*'x'; it must be a table"),
        (HEAD.replace('"t"', "3") + BOW, "a suite has title = 3; it must be a text"),
        (HEAD.replace('["tweet"]', '"tweet"') + BOW, "data_sets = 'tweet'; it must be a list"),
        (HEAD.replace("tweet", "../tweet") + BOW, r"'\.\./tweet' is no name of a data set"),
        (HEAD + "kind = 'pie'\n" + BOW, "a suite has kind = 'pie'; it should be 'table', 'bars'"),
        (
            HEAD + "metrics = ['f1']\n" + BOW,
            "a suite has metrics.0 = 'f1'; it should be 'acc', 'nmi', 'ari', 'purity' or 'nmi_geometric'",
        ),
        (HEAD + "quick_data_sets = ['yelp']\n" + BOW, "the quick data set 'yelp' is unknown; pass some of tweet"),
        (HEAD + "shown_tier = 'huge'\n" + BOW, "the tier 'huge' is unknown; pass some of quick, standard, paper"),
        (HEAD + "[[rows]]\nmethod = 'kmeans'\n", "row 1 has no 'name'"),
        (HEAD + BOW + "size = 3\n", "row 'A' has the key 'size'; the keys are name, method"),
        (HEAD + BOW + "params = [1]\n", r"row 'A' has params = \[1\]; it must be a table"),
        (HEAD + BOW + "x = 'a'\n", "row 'A' has x = 'a'; it must be a number"),
        (HEAD + BOW + "x = true\n", "it must be a number"),
        (HEAD + BOW + "published = { acc = 3 }\n", "row 'A' has published.acc = 3; it must be a table"),
        (HEAD + BOW + "cost = 'free'\n", "row 'A' has cost = 'free'; it should be 'cheap' or 'expensive'"),
        (HEAD + BOW + BOW, "two rows are called 'A'"),
        (HEAD + BOW + "peer = 'bertopic'\n", "row 'A': it has a method and a peer; omit one"),
        (HEAD + NOTHING + "method = 'magic'\n", "row 'A': there is no method 'magic'"),
        (HEAD + BOW + "params = { colour = 1 }\n", "row 'A': there is no parameter 'colour'"),
        (HEAD + BOW + "paper = { colour = 1 }\n", "row 'A': there is no parameter 'colour'"),
        (HEAD + BOW + "paper_for = { tweet = { colour = 1 } }\n", "row 'A': there is no parameter 'colour'"),
        (
            HEAD + BOW + "paper_for = { yelp = {} }\n",
            "the data set in paper_for of row 'A' 'yelp' is unknown; pass some of tweet",
        ),
        (
            HEAD + BOW + "params = { preset = 'best' }\n",
            "the preset of bow-kmeans 'best' is unknown; pass some of none",
        ),
        (HEAD + BOW + "params = { n_clusters = 7 }\n", "n_clusters = 7 is the bench's to choose"),
        (HEAD + BOW + 'params = { n_clusters = "7" }\n', "n_clusters = '7' is the bench's to choose"),
        (HEAD + BOW + 'params = { n_clusters = "some" }\n', "n_clusters='some' is not a whole number"),
        (HEAD + BOW + "params = { random_state = 7 }\n", "random_state = 7 is the bench's to choose"),
        (HEAD + BOW + "params = { sif_a = nan }\n", "row 'A': a parameter is no text"),
        (HEAD + BOW + "params = { sif_a = 2001-01-01 }\n", "row 'A': a parameter is no text"),
        (HEAD + NOTHING + "peer = 'fish'\n", "row 'A': there is no peer 'fish'; the peers are bertopic"),
        (
            HEAD + PEER + "peer_options = { fish = 1 }\n",
            "the option of bertopic 'fish' is unknown; pass some of topics, outliers",
        ),
        (
            HEAD + BOW + "published = { ari = { tweet = 3 } }\n",
            "the published metric of row 'A' 'ari' is unknown; pass some of acc, nmi",
        ),
        (HEAD + BOW + "train_share = { tweet = 1 }\n", "row 'A' has train_share.tweet = 1; it should be less than 1"),
        (HEAD + BOW + "train_share = { tweet = '1' }\n", "row 'A' has train_share.tweet = '1'; it must be a number"),
        (HEAD + BOW + "train_share = { yelp = 0.5 }\n", "the data set in train_share of row 'A' 'yelp' is unknown"),
        (HEAD + PEER + "train_share = { tweet = 0.5 }\n", "a peer does not predict new texts"),
        (HEAD + BOW + "published = { acc = { yelp = 3 } }\n", "the data set in published of row 'A' 'yelp' is unknown"),
        (
            HEAD + BOW + "published = { acc = { tweet = '3' } }\n",
            "row 'A' has published.acc.tweet = '3'; it must be a number",
        ),
    ],
)
def test_a_file_that_does_not_work_is_named(tmp_path, content, message):
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(ParameterError, match=message) as error:
        load_suite(str(file))
    assert str(file) in str(error.value)


def test_text_that_is_not_utf_8_is_said_and_a_mark_before_it_is_passed_over(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes((HEAD + BOW + "why_behind = 'café'").encode("latin-1"))
    with pytest.raises(ParameterError, match="is not valid TOML in UTF-8"):
        load_suite(str(file))
    file.write_bytes(b"\xef\xbb\xbf" + (HEAD + BOW).encode())
    assert load_suite(str(file)).title == "t"
