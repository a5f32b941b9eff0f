"""Files in the encodings of the world, without a word about which."""

from __future__ import annotations

import pytest

from shoal.corpus.encodings import decode
from shoal.errors import DataError

TEXTS = {
    "Chinese": "编号,内容\n1,我的包裹还没有到，已经等了两个星期\n2,请问退款需要多长时间\n3,尺寸不合适，想换\n",
    "Taiwan": "編號,內容\n1,我的包裹還沒有到，已經等了兩個星期\n2,請問退款需要多長時間\n3,尺寸不合適，想換\n",
    "Japanese": "番号,本文\n1,荷物がまだ届いていません\n2,返金にはどのくらいかかりますか\n3,サイズが合わない\n",
    "Korean": "번호,내용\n1,택배가 아직 도착하지 않았습니다\n2,환불은 언제쯤 받을 수 있나요\n3,교환하고 싶어요\n",
    "Russian": "номер,текст\n1,Моя посылка ещё не пришла\n2,Когда вернут деньги за заказ\n3,Размер не подошёл\n",
    "Greek": "id,κείμενο\n1,Το δέμα μου δεν έχει φτάσει ακόμα\n2,Πότε θα επιστραφούν τα χρήματα\n",
    "French": "id,texte\n1,Mon colis n'est pas arrivé, où est-il passé ?\n2,Très déçu du délai de livraison\n",
    "German": "id,text\n1,Das Paket ist noch nicht da, größter Ärger\n2,Rückgabe wäre schön\n",
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *(("Chinese", name) for name in ("gbk", "gb18030", "utf-32", "utf-32-le", "utf-16-be", "utf-16-le")),
        ("Taiwan", "big5"),
        *(("Japanese", name) for name in ("shift_jis", "euc_jp", "iso2022_jp", "utf-32-be", "utf-16-le")),
        *(("Korean", name) for name in ("euc_kr", "iso2022_kr")),
        *(("Russian", name) for name in ("cp1251", "koi8_r", "utf-16-le")),
        ("Greek", "cp1253"),
        *(("French", name) for name in ("cp1252", "latin-1", "utf-16-le", "utf-32")),
        ("German", "cp1252"),
    ],
)
def test_is_recognised(language, encoding):
    text, notes = decode(TEXTS[language].encode(encoding))
    assert text == TEXTS[language]
    assert notes.get("encoding_guessed") or encoding == "utf-32"


def test_what_is_not_recognised_is_asked_for():
    with pytest.raises(DataError, match=r"their encoding cannot be recognised; name it with --encoding .*gb18030"):
        decode(b"text\n" + bytes(range(128, 256)) * 3)


@pytest.mark.parametrize("text", ["a ~{ b", "sum ~{x}", "\x1b[31mred\x1b[0m", "price \x1b$"])
def test_utf8_that_resembles_another_encoding_stays(text):
    assert decode(text.encode()) == (text, {"encoding": "utf-8"})
