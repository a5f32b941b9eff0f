"""Function words of some languages, and which of the languages a corpus is written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from shoal.errors import ParameterError
from shoal.naming.words import words

_LISTS = {
    "en": """
        a about above after again against all almost also although always am among an and another any anyone
        anything are aren't around as at away be because been before being below between both but by can can't
        cannot could couldn't did didn't do does doesn't doing don't done down during each either else enough
        etc even ever every everything few for from further get gets getting give given go goes going gone got
        had hadn't has hasn't have haven't having he her here hers herself him himself his how however i i'd
        i'll i'm i've if in instead into is isn't it it'll its itself just keep let like likely made make
        makes making many may maybe me might more most much must my myself need needs neither never no none
        nor not nothing now of off often on once one only onto or other others our ours out over own per
        perhaps please put quite rather really same several shall she should shouldn't since so some someone
        something still such take than that the their theirs them themselves then there these they they're
        thing things this those though through thus to together too toward towards trying try two under until
        up upon us use used uses using very via want wants was wasn't way ways we we're well were weren't what
        when where whether which while who whom whose why will with within without won't would wouldn't yet
        you you're you've your yours yourself s t d m re ve ll don doesn didn isn im e.g i.e
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus
        bei beim bereits bin bis bist da dabei dadurch dafür dagegen daher damit danach dann daran darauf
        daraus darf darin darüber das dass davon dazu dein deine deinem deinen deiner dem den denn der deren
        des dessen deshalb die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen
        einer eines einige einigen einmal er es etwa etwas euch euer eure für gegen gibt hab habe haben hat
        hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede
        jedem jeden jeder jedes jedoch jetzt kann kein keine keinem keinen keiner können könnte machen man
        mehr mein meine meinem meinen meiner mich mir mit muss musste müssen nach neben nein nicht nichts noch
        nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche
        soll sollen sollte sondern sonst sowie trotz über um und uns unser unsere unter viel viele vielen vom
        von vor wann war waren warum was weg weil welche welcher weiter wenn wer werde werden wie wieder will
        wir wird wo wohl wollen worden wurde wurden würde zu zum zur zwar zwischen
    """,
    "fr": """
        à a afin ai aient ainsi alors après as au aucun aucune aujourd'hui auquel aura aussi autre autres aux
        avaient avais avait avant avec avez avoir avons beaucoup bien c ça car ce ceci cela celle celles celui
        cependant ces cet cette ceux chaque chez ci comme comment contre d dans de déjà depuis des dès deux
        devant doit doivent donc dont du durant elle elles en encore entre es est et étaient était étant été
        être eu eux fait faire fois font furent fut grâce hors il ils j je jusque l la là laquelle le lequel
        les lesquels leur leurs lors lorsque lui m ma mais me même mêmes mes moi moins mon n ne ni non nos
        notre nous on ont or ou où par parce parmi pas pendant peu peut peuvent peux plus plusieurs plutôt
        pour pourquoi pourrait puis qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera
        serait seront ses si sien soi soit sommes son sont sous souvent suis sur t ta tandis te tel telle tes
        toi ton toujours tous tout toute toutes très trop tu un une vers via voici voilà vont vos votre vous y
    """,
    "es": """
        a acá ahí ahora al algo alguien algún alguna algunas alguno algunos allí ante antes aquel aquella
        aquello aquellos aquí así aún aunque bajo bien cada casi como cómo con contra cual cuál cuales
        cualquier cuando cuándo cuanto cuánto de debe deben del demás desde después donde dónde dos durante e
        el él ella ellas ello ellos en entonces entre era eran eres es esa esas ese eso esos está estaba
        estado están estar estas este esto estos estoy fue fueron fui ha había habían haber hace hacer hacia
        han has hasta hay he hemos hizo incluso ir la las le les lo los luego más me mediante menos mi mí
        mientras mis misma mismo mismos mucha muchas mucho muchos muy nada nadie ni ningún ninguna no nos
        nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para pero poco por porque
        pues puede pueden puedo que qué quien quién quienes se sea sean según ser será si sí sido siempre sin
        sino sobre solo sólo son soy su sus suyo también tampoco tan tanto te tener tengo ti tiene tienen toda
        todas todavía todo todos tras tu tú tus tuvo u un una unas uno unos usted ustedes va vez y ya yo
    """,
    "it": """
        a abbia abbiamo ad agli ai al alcune alcuni alla alle allo allora altra altre altri altro anche ancora
        anzi appena avere aveva avevano c che chi ci ciò circa coi col come con contro cosa così cui d da
        dagli dai dal dalla dalle dallo degli dei del della delle dello dentro deve devono di dopo dove dunque
        due durante e è ecco ed era erano essere fa fare fatto fino fra fu già gli ha hanno ho i il in infatti
        io l la là le lei li lo loro lui ma me meno mentre mi mia mie miei mio molta molte molti molto ne nei
        nel nella nelle nello nessun nessuna niente no noi non nostra nostri nostro o od ogni oltre ora ormai
        per perché però più po' poco poi possono prima proprio può qual quale quali qualche qualcosa quando
        quanto quasi quella quelle quelli quello questa queste questi questo qui quindi sarà se sei sempre
        senza si sì sia siamo siano solo sono sopra sotto spesso stata state stati stato stesso su sua sue
        sugli sui sul sulla sulle suo suoi tanto te ti tra troppo tu tua tue tuo tutta tutte tutti tutto un
        una uno verso vi via voi vostro
    """,
    "pt": """
        a à ainda além algo alguém algum alguma algumas alguns ali ante antes ao aos apenas aquela aquele
        aqueles aqui aquilo as às assim até através bem cada com como contra contudo da daquele das de dela
        dele deles depois desde dessa desse desta deste deve devem disso do dois dos durante e é ela elas ele
        eles em embora enquanto então entre era eram essa essas esse esses esta está estamos estão estar estas
        estava este estes estou eu fazer faz fez foi for foram haver há isso isto já lá lhe lhes lo logo mais
        mas me mesma mesmo mesmos meu meus mim minha minhas muita muitas muito muitos na nada não nas nem
        nenhum nenhuma nessa nesse nesta neste ninguém no nos nós nossa nossas nosso nossos num numa nunca o
        onde os ou outra outras outro outros para pela pelas pelo pelos perante pode podem pois por porém
        porque porquê pouco pouca qual quais qualquer quando quanto quase que quê quem são se seja sejam sem
        sempre sendo ser será seu seus sido só sob sobre sou sua suas tal também tanto tão te tem têm tenho
        ter teu teve tinha toda todas todo todos tu tua tudo um uma umas uns vai vários você vocês vos
    """,
    "nl": """
        aan al alle alleen alles als altijd ander andere anders ben bent bij binnen boven buiten daar daarna
        daarom dan dat de deze die dit doch doen door dus een eens eerst elk elke en er ergens etc even ga
        gaan gaat ge geen geweest haar had hadden heb hebben hebt heeft hem hen het hier hij hoe hun ieder
        iedere iemand iets ik in is ja je jij jouw jullie kan kon konden kunnen kunt maar maken me meer men
        met mij mijn misschien moest moet moeten mogen mag na naar naast niemand niet niets nog nooit nu of om
        omdat onder ons onze ook op over per reeds sinds steeds te tegen terwijl toch toen tot tussen u uit uw
        van vanaf vaak veel via voor vooral waar waarom wanneer want waren was wat we weer wel welk welke werd
        werden wie wij wil willen word worden wordt zal ze zeer zelf zich zij zijn zo zoals zonder zou zouden
    """,
    "ru": """
        а без более больше бы был была были было быть в вам вас ваш весь во вот все всего всех вы где да даже
        для до его ее её если есть еще ещё же за здесь и из или им их к как какой когда кто ли лишь меня мне
        много может можно мой мы на над надо нас наш не него нее неё нет ни них но ну о об один он она они оно
        от очень по под после потом потому почему почти при про раз с сам себе себя сейчас со так также такой
        там тебя тем теперь то тогда того тоже только том тот три тут ты у уже хотя чего чем через что чтобы
        эта эти это этого этой этом этот я
    """,
}
# Characters and words of Chinese grammar. No other language is harmed by them, so they need no detection.
_CHINESE = frozenset("的了是吗呢吧啊呀么什们我你您他她它这那哪谁也很着把被让给与或而但怎")
_CHINESE |= {"可以", "没有", "一个", "不是", "如果", "因为", "所以", "以及", "还是", "自己", "已经", "需要"}

STOP_WORDS: dict[str, frozenset[str]] = {code: frozenset(text.casefold().split()) for code, text in _LISTS.items()}

_SAMPLE = 5000
# Function words are some 40 % of a text, so this finds a language in which about a twentieth is written.
_TELLING_SHARE = 0.02
_TELLING_WORDS = 3


def languages(texts: Sequence[str]) -> tuple[str, ...]:
    """Find the languages of a corpus by their function words.

    Each text counts for the one language whose function words are most frequent in it; a language is in the
    corpus when its function words in such texts are at least two in a hundred of all words, and three or more
    different ones: "car" alone does not make English French. Up to 5000 texts,
    evenly spaced, are looked at.

    Parameters
    ----------
    texts : sequence of str
        The corpus.

    Returns
    -------
    tuple of str
        Two-letter codes among the keys of `STOP_WORDS`; empty where none is found.

    Examples
    --------
    >>> languages(["Wie ist das Wetter in der Stadt?", "Das Wetter ist nicht gut"])
    ('de',)
    """
    hits: Counter[str] = Counter()
    seen: dict[str, set[str]] = {code: set() for code in STOP_WORDS}
    n_words = 0
    for text in texts[:: max(1, len(texts) // _SAMPLE)]:
        tokens = [word.casefold() for word in words(text)]
        n_words += len(tokens)
        counts = Counter({code: sum(map(listed.__contains__, tokens)) for code, listed in STOP_WORDS.items()})
        (best, count), (_, runner_up) = counts.most_common(2)
        if count > runner_up:
            hits[best] += count
            seen[best].update(STOP_WORDS[best].intersection(tokens))
    return tuple(
        code for code in STOP_WORDS if len(seen[code]) >= _TELLING_WORDS and hits[code] >= _TELLING_SHARE * n_words
    )


def resolve_stop_words(stop_words: str | Iterable[str] | None, texts: Sequence[str]) -> frozenset[str]:
    """Turn the parameter `stop_words` into a set of case-folded words.

    Parameters
    ----------
    stop_words : "auto", iterable of str or None
        "auto" for the lists of the languages found in `texts`; your own words; None for no stop words.
    texts : sequence of str
        The corpus, read only for "auto".

    Returns
    -------
    frozenset of str
        The words to leave out.

    Raises
    ------
    ParameterError
        `stop_words` is a string other than "auto".

    Examples
    --------
    >>> sorted(resolve_stop_words(["The", "of"], []))
    ['of', 'the']
    >>> "the" in resolve_stop_words("auto", ["this is the end of the world"])
    True
    """
    if stop_words is None:
        return frozenset()
    if stop_words == "auto":
        return _CHINESE.union(*(STOP_WORDS[code] for code in languages(texts)))
    if isinstance(stop_words, str):
        raise ParameterError(
            f'stop_words="{stop_words}" is not known; pass "auto", None or a list of words, for instance '
            f"shoal.naming.STOP_WORDS[code] with a code among {', '.join(STOP_WORDS)}."
        )
    return frozenset(word.casefold() for word in stop_words)
